// Requests that compute for 3 ms. `?fail=N` fails one of N, `/cut` ends the connection, `/events` has no end.
const fs = require('node:fs');
const http = require('node:http');

if (process.env.BROKEN) throw new Error('no database at all');
let count = 0;
http
  .createServer((request, response) => {
    if (process.env.SEEN_FILE) fs.appendFileSync(process.env.SEEN_FILE, `${request.method} ${request.url}\n`);
    const until = performance.now() + 3;
    while (performance.now() < until);
    count += 1;
    const url = new URL(request.url, 'http://app');
    const one_of = Number(url.searchParams.get('fail') ?? 0);
    if (url.pathname === '/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: first\n\n');
      return;
    }
    if (url.pathname === '/cut') {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half');
      setTimeout(() => response.socket?.destroy(), 5);
      return;
    }
    response.statusCode = one_of > 0 && count % one_of === 0 ? 500 : 200;
    response.end('answered\n');
  })
  .listen(process.env.PORT);
