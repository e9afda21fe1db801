// Says that it works on the request before it answers, and ends its answer with trailers that it has announced.
// A POST is answered with the length of its body and its trailers, `/hints` with many early hints and, long after, a body.
'use strict';

const http = require('node:http');

async function tell(request, response) {
  let length = 0;
  for await (const piece of request) length += piece.length;
  response.end(JSON.stringify({ length, trailers: request.trailers }));
}

/** More than a client takes that does not read, and later than the gateway waits for such a one. */
function hint(response) {
  for (let at = 0; at < 8; at += 1) {
    response.writeEarlyHints({ link: `</${'x'.repeat(60_000)}${at}>; rel=preload` });
  }
  setTimeout(() => response.end('body'), 3_000);
}

http
  .createServer((request, response) => {
    if (request.method === 'POST') return tell(request, response);
    if (request.url === '/hints') return hint(response);
    response.writeProcessing();
    response.writeHead(200, { Trailer: 'X-Checksum' });
    response.write('body');
    response.addTrailers({ 'X-Checksum': '7' });
    response.end();
  })
  .listen(Number(process.env.PORT));
