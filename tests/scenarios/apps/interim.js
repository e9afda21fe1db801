// Says that it works on the request before it answers, and ends its answer with trailers that it has announced.
// A POST is answered with the length of its body and its trailers.
'use strict';

const http = require('node:http');

async function tell(request, response) {
  let length = 0;
  for await (const piece of request) length += piece.length;
  response.end(JSON.stringify({ length, trailers: request.trailers }));
}

http
  .createServer((request, response) => {
    if (request.method === 'POST') return tell(request, response);
    response.writeProcessing();
    response.writeHead(200, { Trailer: 'X-Checksum' });
    response.write('body');
    response.addTrailers({ 'X-Checksum': '7' });
    response.end();
  })
  .listen(Number(process.env.PORT));
