// Notes each POST with its path in ONCE_FILE, so that a test sees whether one was carried out twice. `?ms=` computes for so long, and
// `?wait=` waits; `/post/503` answers that.
'use strict';

const fs = require('node:fs');
const http = require('node:http');

const name = process.env.INSTANCE ?? '';

http
  .createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://app');
    if (request.method === 'POST') fs.appendFileSync(process.env.ONCE_FILE, `${pathname} ${name}\n`);
    const until = performance.now() + Number(searchParams.get('ms') ?? 0);
    while (performance.now() < until);
    response.statusCode = pathname.startsWith('/post/503/') ? 503 : 200;
    response.setHeader('x-instance', name);
    const end = () => setTimeout(() => response.end(`${name}\n`), Number(searchParams.get('wait') ?? 0));
    request.resume().on('end', end);
  })
  .listen(process.env.PORT);
