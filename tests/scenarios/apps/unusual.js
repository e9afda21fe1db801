// What an app may do that few do: each path is one of them.
'use strict';

const http = require('node:http');
const fs = require('node:fs');

let isRefusing = false;

const server = http.createServer((request, response) => {
  switch (request.url.split('?')[0]) {
    case '/destroy':
      return response.destroy();
    case '/destroy-in-the-middle':
      response.writeHead(200, { 'content-length': 100 });
      response.write('half');
      return setTimeout(() => response.destroy(), 50);
    case '/close':
      response.setHeader('connection', 'close');
      return response.end(`${process.pid}\n`);
    case '/close-idle':
      response.end(`${process.pid}\n`);
      return setImmediate(() => {
        // The gateway has the answer meanwhile, and has sent the next request on the same connection.
        for (const end = performance.now() + 20; performance.now() < end;);
        server.closeIdleConnections();
      });
    case '/refuse-connections':
      isRefusing = true;
      setTimeout(() => (isRefusing = false), 100);
      response.setHeader('connection', 'close');
      return response.end(`${process.pid}\n`);
    case '/headers-with-line-ends':
      return response.socket.end('HTTP/1.1 200 OK\r\nx-a: b\nx-b: c\r\ncontent-length: 0\r\n\r\n');
    case '/many-headers':
      for (let i = 0; i < 400; i++) response.setHeader(`x-${i}`, 'a');
      return response.end('many\n');
    case '/until-close-then-die':
      response.useChunkedEncodingByDefault = false;
      response.shouldKeepAlive = false;
      response.write('row 1\n');
      return setTimeout(() => process.kill(process.pid, 'SIGKILL'), 100);
    case '/until-close':
      response.useChunkedEncodingByDefault = false;
      response.shouldKeepAlive = false;
      response.write('row 1\n');
      return setTimeout(() => response.end('row 2\n'), 20);
    case '/send':
      return process.send(
        { text: 'x'.repeat(Number(new URL(request.url, 'http://app').searchParams.get('bytes'))) },
        () => response.end(`${process.pid}\n`),
      );
    case '/block':
      for (;;);
    default:
      return response.end(`${process.pid}\n`);
  }
});

server.on('connection', (socket) => {
  if (isRefusing) socket.destroy();
});

// Writes without being spoken to, so that only one direction of the connection is ever used.
server.on('upgrade', (request, socket) => {
  socket.on('error', () => {});
  if (request.url === '/never') return;
  socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
  const timer = setInterval(() => socket.write('tick'), 50);
  socket.on('close', () => clearInterval(timer));
});

process.on('message', (message) => {
  fs.appendFileSync(process.env.MESSAGES_FILE, `${JSON.stringify(message)}\n`);
  if (message === 'shutdown') process.exit(0);
});
process.on('SIGTERM', () => {
  // Leaves on the message only, as apps written for another process manager do.
  if (process.env.MESSAGES_FILE === undefined) process.exit(0);
});
server.listen(process.env.PORT, () => process.send('ready'));
