// An app as another runtime would run it: it knows of the gateway only the path of its socket. Started without the
// preload it behaves like one in Deno, Bun or Python.
'use strict';

const fs = require('node:fs');
const http = require('node:http');

const routes = {
  '/headers': (request, response) => response.end(JSON.stringify(request.headers)),
  '/length': (_request, response) => {
    response.setHeader('content-length', '5');
    response.end('hello');
  },
  '/chunked': (_request, response) => {
    response.write('hel');
    setTimeout(() => response.end('lo'), 20);
  },
  '/close': (request) => {
    // As HTTP/1.0 servers do: the end of the connection ends the body.
    request.socket.end('HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n\r\nhello');
  },
  '/broken': (request) => request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\ncut'),
  '/garbage': (request) => request.socket.end('neither HTTP nor anything else\r\n\r\n'),
  '/events': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: first\n\n');
  },
};

const server = http.createServer((request, response) => {
  const route = routes[request.url];
  if (route === undefined) response.writeHead(404).end();
  else route(request, response);
});
// No idle connection is closed by this side while a request may be on its way.
server.keepAliveTimeout = 0;
server.on('upgrade', (_request, socket) => {
  socket.on('error', () => {});
  socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
  socket.pipe(socket);
});
process.on('SIGTERM', () => {
  console.log('asked to leave');
  process.exit(0);
});
const listen = () => server.listen(process.env.SLUICE_SOCKET, () => console.log(`listens ${process.pid}`));
// Listens once the file is there, so that a test decides when.
const { LISTEN_WHEN } = process.env;
if (LISTEN_WHEN === undefined) listen();
else {
  const wait = setInterval(() => {
    if (!fs.existsSync(LISTEN_WHEN)) return;
    clearInterval(wait);
    listen();
  }, 10);
}
