// Says that it works on the request before it answers, and ends its answer with trailers that it has announced.
'use strict';

const http = require('node:http');

http
  .createServer((_request, response) => {
    response.writeProcessing();
    response.writeHead(200, { Trailer: 'X-Checksum' });
    response.write('body');
    response.addTrailers({ 'X-Checksum': '7' });
    response.end();
  })
  .listen(Number(process.env.PORT));
