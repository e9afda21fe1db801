// Ends its process in the way that the path names.
'use strict';

const http = require('node:http');

const kept = [];
const ways = {
  '/throw': () => {
    throw Object.assign(new Error('thrown'), { code: 'E_PLANTED', token: process.env.PLANTED_SECRET });
  },
  '/memory': () => {
    for (;;) kept.push({ a: kept.length, b: [kept.length] });
  },
  '/abort': () => process.abort(),
  '/segv': () => process.kill(process.pid, 'SIGSEGV'),
  /** The app's own report goes where it would without Sluice. */
  '/own-report': (response) => {
    const { directory, filename, compact } = process.report;
    const text = JSON.stringify(process.report.getReport());
    response.end(
      JSON.stringify({ directory, filename, compact, has: text.includes('environmentVariables') }),
    );
  },
};

http
  .createServer((request, response) => {
    const way = ways[request.url];
    if (way === undefined) response.end('ok\n');
    else way(response);
  })
  .listen(process.env.PORT);
