// Opens streams and then says nothing on them.
'use strict';

const http = require('node:http');

const server = http.createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
});
server.on('upgrade', (_request, socket) => {
  socket.on('error', () => {});
  socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
});
server.listen(process.env.PORT);
