// A search that takes so many milliseconds of CPU time as the file COST_FILE says at the start, and a home page that takes two.
'use strict';

const fs = require('node:fs');
const http = require('node:http');

const search_ms = Number(fs.readFileSync(process.env.COST_FILE, 'utf8'));

// CPU time and not the clock's, which a busy machine lets pass without any work.
function busy(ms) {
  const before = process.cpuUsage();
  for (let spent_us = 0; spent_us < ms * 1000;) {
    const { user, system } = process.cpuUsage(before);
    spent_us = user + system;
  }
}

http
  .createServer((request, response) => {
    busy(request.url === '/search' ? search_ms : 2);
    response.end('done');
  })
  .listen(process.env.PORT);
