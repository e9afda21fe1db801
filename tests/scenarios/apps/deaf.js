// Computes for ever at `/block`, so that its listener of SIGTERM is never called.
const http = require('node:http');

process.on('SIGTERM', () => process.exit(0));
http
  .createServer((request, response) => {
    while (request.url === '/block');
    response.end('ok');
  })
  .listen(process.env.PORT);
