// Answers /read with more than a client that does not read can be sent.
'use strict';

const http = require('node:http');

http
  .createServer((request, response) => {
    request.resume().on('end', () => response.end(request.url === '/read' ? Buffer.alloc(60_000_000) : 'ok'));
  })
  .listen(process.env.PORT ?? 3000);
