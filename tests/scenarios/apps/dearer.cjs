// A search that takes so many milliseconds of CPU time as the file COST_FILE says at the start, and a home page that takes two.
'use strict';

const fs = require('node:fs');
const http = require('node:http');

const search_ms = Number(fs.readFileSync(process.env.COST_FILE, 'utf8'));

function busy(ms) {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

http
  .createServer((request, response) => {
    busy(request.url === '/search' ? search_ms : 2);
    response.end('done');
  })
  .listen(process.env.PORT);
