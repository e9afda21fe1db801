// The app of `mixed-faults.test.ts`. `/page` works a few milliseconds, `/order` reads a body first, `/begun` sends half of
// its answer at once and the rest a little later, `/loop` never ends. Notes in MIXED_FILE every order that it begins, and
// every request that comes while it holds another.
'use strict';

const fs = require('node:fs');
const http = require('node:http');

const journal = fs.openSync(process.env.MIXED_FILE, 'a');
// The start tells workers apart that had the same number: half an hour of kills uses all numbers up.
const worker = `${process.pid} ${performance.timeOrigin}`;
const note = (what, url) => fs.writeSync(journal, `${what} ${url} ${worker}\n`);
let held = 0;

http
  .createServer((request, response) => {
    const url = new URL(request.url, 'http://app');
    const ms = Number(url.searchParams.get('ms'));
    held += 1;
    if (held > 1) note('overlap', request.url);
    const end = (text) => {
      held -= 1;
      response.end(text);
    };
    const work = () => {
      const until = performance.now() + ms;
      while (performance.now() < until);
    };
    switch (url.pathname) {
      case '/order': {
        note('order', request.url);
        let bytes = 0;
        request.on('data', (piece) => (bytes += piece.length));
        return request.on('end', () => {
          work();
          end(`${bytes}\n`);
        });
      }
      case '/begun':
        response.writeHead(200, { 'content-length': 10 }).write('half ');
        return setTimeout(() => end('half\n'), ms);
      case '/loop':
        for (;;);
      default:
        work();
        return setTimeout(() => end('page\n'), ms);
    }
  })
  .listen(process.env.PORT);
