// Fails, exits or sends events, as the path says.
'use strict';

const http = require('node:http');

http
  .createServer((request, response) => {
    if (request.url === '/exits') process.exit(1);
    if (request.url === '/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => response.write('data: 1\n\n'), 20);
      response.on('close', () => clearInterval(timer));
      return;
    }
    response.writeHead(request.url === '/fails' ? 500 : 200).end();
  })
  .listen(process.env.PORT ?? 3000);
