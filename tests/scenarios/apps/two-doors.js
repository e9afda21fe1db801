// Serves on PORT and, in every worker, on a second port, as apps with a metrics page do.
'use strict';

const http = require('node:http');

http.createServer((_request, response) => response.end(`main ${process.pid}\n`)).listen(process.env.PORT);
http
  .createServer((_request, response) => {
    response.setHeader('connection', 'close');
    response.end(`second ${process.pid}\n`);
  })
  .listen(Number(process.env.SECOND_PORT), '127.0.0.1');
