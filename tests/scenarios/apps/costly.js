// Burns CPU by what is asked for: 2 ms for /short and for what else there is, 60 ms for /long, 1,200 ms for /render, 30 ms
// for /list where the query has `facets`.
'use strict';

const http = require('node:http');

const cost_ms = (url) => {
  if (url.startsWith('/long')) return 60;
  if (url.startsWith('/render')) return 1_200;
  return /^\/list\?(.*&)?facets/.test(url) ? 30 : 2;
};

http
  .createServer((request, response) => {
    // CPU time and not the clock's, which a busy machine lets pass without any work.
    const before = process.cpuUsage();
    const until_us = cost_ms(request.url) * 1000;
    for (let spent_us = 0; spent_us < until_us;) {
      const { user, system } = process.cpuUsage(before);
      spent_us = user + system;
    }
    response.end('done');
  })
  .listen(process.env.PORT ?? process.env.SLUICE_SOCKET);
