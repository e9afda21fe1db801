// Opens streams and then says nothing on them; `/counted` says how often it has written before.
'use strict';

const http = require('node:http');

const server = http.createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
});
server.on('upgrade', (request, socket) => {
  socket.on('error', () => {});
  let writes = 0;
  const { write } = socket;
  if (request.url === '/counted') {
    socket.write = (...parts) => {
      writes += 1;
      return write.apply(socket, parts);
    };
  }
  socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
  if (request.url !== '/counted') return;
  socket.write('one more, ');
  socket.write(`written ${writes} times`);
});
server.listen(process.env.PORT);
