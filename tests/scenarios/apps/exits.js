// Ends its process when half of an answer was sent, in each framing; `/whole` when all of it was.
'use strict';

const http = require('node:http');

// Later than the piece, so that the gateway has seen that the answer has begun.
const exit = () => setTimeout(() => process.exit(7), 100);

const ways = {
  '/length': (response) => {
    response.writeHead(200, { 'content-length': 100 }).write('half', exit);
  },
  '/chunked': (response) => {
    response.write('half', exit);
  },
  '/events': (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: half\n\n', exit);
  },
  '/whole': (response) => {
    response.end(Buffer.alloc(1 << 20, 'x'), () => process.exit(7));
  },
};

http
  .createServer((request, response) => {
    const way = ways[request.url];
    if (way === undefined) response.end('ok\n');
    else way(response);
  })
  .listen(process.env.PORT);
