// Keeps LEAK_MIB MiB of each request to `/leak` for ever.
'use strict';

const http = require('node:http');

const kept = [];
http
  .createServer((request, response) => {
    // Written to, so that it is resident.
    if (request.url === '/leak') kept.push(Buffer.alloc(Number(process.env.LEAK_MIB) * 1024 * 1024, 1));
    response.end('ok\n');
  })
  .listen(process.env.PORT);
