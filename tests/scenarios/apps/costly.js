// Burns CPU by what is asked for: 2 ms for /short and for what else there is, 60 ms for /long, 30 ms for /list where the
// query has `facets`.
'use strict';

const http = require('node:http');

const cost_ms = (url) => {
  if (url.startsWith('/long')) return 60;
  return /^\/list\?(.*&)?facets/.test(url) ? 30 : 2;
};

http
  .createServer((request, response) => {
    const until = performance.now() + cost_ms(request.url);
    while (performance.now() < until);
    response.end('done');
  })
  .listen(process.env.PORT ?? process.env.SLUICE_SOCKET);
