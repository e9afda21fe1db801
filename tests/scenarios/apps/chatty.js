// Writes to its outputs in the ways of real apps: JSON lines, plain text, stacks.
'use strict';

const http = require('node:http');

http
  .createServer((request, response) => {
    const url = new URL(request.url, 'http://app');
    if (url.pathname === '/json') {
      process.stdout.write('{"level":50,"time":1,"msg":"out of \\"stock\\"","order":{"id":7}}\n');
    }
    if (url.pathname === '/stack') console.error(new TypeError('broken', { cause: new Error('the cause') }));
    if (url.pathname === '/plain') console.log('all is well');
    response.statusCode = Number(url.searchParams.get('status') ?? 200);
    response.end('said\n');
  })
  .listen(process.env.PORT ?? 3000);
