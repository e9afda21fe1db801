// Answers at once, or after so many milliseconds of CPU time: /item?ms=40.
'use strict';

const http = require('node:http');

http
  .createServer((request, response) => {
    const { searchParams } = new URL(request.url, 'http://app');
    const until_us = Number(searchParams.get('ms') ?? 0) * 1000;
    // CPU time and not the clock's, which a busy machine lets pass without any work.
    const before = process.cpuUsage();
    for (let spent_us = 0; spent_us < until_us;) {
      const { user, system } = process.cpuUsage(before);
      spent_us = user + system;
    }
    response.end('{"stock":41}');
  })
  .listen(process.env.PORT);
