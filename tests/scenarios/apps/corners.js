// Responses at the edge of what HTTP allows, and streams that say when they are closed: each path is one of them.
'use strict';

const http = require('node:http');

const routes = {
  // Says one thing and then nothing, in whatever case the type is asked for.
  '/events': (query, response) => {
    response.on('close', () => console.log(`closed ${query.get('name')}`));
    response.writeHead(200, { 'content-type': query.get('type') ?? 'text/event-stream' });
    response.write('data: only\n\n');
  },
  // The head is settled, and nothing of it is written before the first event.
  '/late-events': (query, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    setTimeout(() => response.write('data: late\n\n'), Number(query.get('after')));
  },
  '/no-content-with-length': (_query, response) => {
    response.writeHead(204, { 'content-length': '5' }).end();
  },
  '/hints-with-length': (_query, response) => {
    const fields = 'content-length: 5\r\nx-sluice-error: SLU-FORGED\r\nlink: </a>; rel=preload\r\n';
    response.socket.write(`HTTP/1.1 103 Early Hints\r\n${fields}\r\n`);
    response.end('hinted\n');
  },
  '/header-of': (query, response) => {
    response.setHeader('x-large', 'a'.repeat(Number(query.get('bytes'))));
    response.end('large\n');
  },
  // As many chunks of one byte. Node would join them, so they are written past it.
  '/crumbs': (query, response) => {
    response.flushHeaders();
    let left = Number(query.get('count'));
    const write = () => {
      const here = Math.min(left, 10000);
      left -= here;
      if (here === 0) response.end();
      else response.socket.write('1\r\nx\r\n'.repeat(here), write);
    };
    write();
  },
  // Chunks of so many bytes, each of one letter, the alphabet over and over.
  '/pieces': (query, response) => {
    const [count, bytes] = ['count', 'bytes'].map((name) => Number(query.get(name)));
    for (let at = 0; at < count; at++) response.write(Buffer.alloc(bytes, 97 + (at % 26)));
    response.end();
  },
  // A byte for each turn of the loop.
  '/letters': (query, response) => {
    let left = Number(query.get('count'));
    const write = () => {
      if (left-- === 0) return response.end();
      response.write('z');
      return setImmediate(write);
    };
    write();
  },
  // Keeps the event loop, and so accepts no connection.
  '/block': (query, response) => {
    const until = Date.now() + Number(query.get('ms'));
    while (Date.now() < until);
    response.end('blocked\n');
  },
  '/arguments': (_query, response) => {
    response.end(JSON.stringify({ execArgv: process.execArgv, argv: process.argv.slice(2) }));
  },
};

const server = http.createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://app');
  const route = routes[pathname];
  if (route) route(searchParams, response);
  else response.end(`${process.pid} ${request.method} ${pathname}\n`);
});

// What many apps do, following Node's documentation only half way.
server.on('clientError', (_error, socket) => socket.destroy());
server.listen(process.env.PORT);
