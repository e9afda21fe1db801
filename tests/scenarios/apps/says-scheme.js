// Writes the path and the scheme of each request as the app gets them, a line each, to the file SCHEMES.
'use strict';

const fs = require('node:fs');
const http = require('node:http');

http
  .createServer((request, response) => {
    const seen = [
      request.url,
      request.headers['x-forwarded-proto'],
      String(request.socket.encrypted === true),
    ];
    fs.appendFileSync(process.env.SCHEMES, `${seen.join(' ')}\n`);
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>a page</title>\n');
  })
  .listen(process.env.PORT);
