// An app that keeps the visitor in a global and puts it back between two requests, which takes RESET_MS. It breaks off
// its answer to `/broken`.
'use strict';

const http = require('node:http');
const { onReset } = require('@sluice/preload');

const resetMs = Number(process.env.RESET_MS);
let visitor = 'nobody';
onReset(async () => {
  await new Promise((done) => setTimeout(done, resetMs));
  visitor = 'nobody';
});

http
  .createServer((request, response) => {
    const before = visitor;
    visitor = request.url;
    if (visitor === '/broken') {
      response.writeHead(200, { 'content-length': 100 });
      return response.write('half', () => response.destroy());
    }
    response.end(before);
  })
  .listen(process.env.PORT);
