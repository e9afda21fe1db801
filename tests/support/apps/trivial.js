// The least a Node server can do: what is measured through it is everything around it.
'use strict';

const http = require('node:http');

const body = Buffer.from('Hello from the trivial handler.\n');

http
  .createServer((request, response) => {
    const headers = { 'content-type': 'text/plain', 'content-length': body.length };
    const loadId = request.headers['x-load-id'];
    if (loadId !== undefined) headers['x-load-id'] = loadId;
    response.writeHead(200, headers);
    response.end(body);
  })
  .listen(process.env.PORT ?? 3000);
