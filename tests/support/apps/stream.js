// Responses that take their time or have unusual parts: flushed chunks, trailers, early hints, event streams, upgrades.
'use strict';

const crypto = require('node:crypto');
const http = require('node:http');
const { wait, work } = require('./lib/work.js');

const WEBSOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

const routes = {
  '/trailers': async (response) => {
    response.writeHead(200, { 'content-type': 'text/plain', trailer: 'x-checksum' });
    response.write('body with a trailer\n');
    response.addTrailers({ 'x-checksum': 'abc' });
    response.end();
  },
  '/early-hints': async (response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
    await wait(20);
    response.end('hinted\n');
  },
  '/no-content': async (response) => {
    response.writeHead(204).end();
  },
  '/not-modified': async (response) => {
    response.writeHead(304, { etag: '"1"' }).end();
  },
  '/events': async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    for (let id = 0; !response.destroyed && id < 1000; id++) {
      response.write(`id: ${id}\ndata: tick\n\n`);
      await wait(20);
    }
    response.end();
  },
};

const server = http.createServer((request, response) => {
  const route = routes[new URL(request.url, 'http://app').pathname];
  void (route ? route(response) : work(request, response));
});

// After the handshake every byte comes back as it was sent: enough to see that an upgraded connection is a pipe.
server.on('upgrade', (request, socket, head) => {
  const key = request.headers['sec-websocket-key'] ?? '';
  const accept = crypto.createHash('sha1').update(`${key}${WEBSOCKET_GUID}`).digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: ${request.headers.upgrade}\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
  );
  if (head.length > 0) socket.write(head);
  socket.on('error', () => socket.destroy());
  socket.pipe(socket);
});

server.listen(process.env.PORT ?? 3000);
