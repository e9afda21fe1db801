// The app of the fault benchmarks. It leaves as a careful one does: off the health check first, then no new connections,
// then what it holds. `/loop` never ends; its function has a name that a log can be searched for.
'use strict';

const http = require('node:http');
const { burnCpu } = require('../../tests/support/apps/lib/work.js');

let isLeaving = false;

function turnForever() {
  for (let turns = 0; ; turns += 1) if (turns < 0) return;
}

const server = http.createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://app');
  if (isLeaving) response.shouldKeepAlive = false;
  if (pathname === '/health') return response.writeHead(isLeaving ? 503 : 200).end();
  if (pathname === '/loop') return turnForever();
  request.resume().on('end', () => {
    burnCpu(Number(searchParams.get('ms') ?? 5));
    response.end('done\n');
  });
});

function leave() {
  if (isLeaving) return;
  isLeaving = true;
  setTimeout(() => server.close(() => process.exit(0)), Number(process.env.LEAVE_DELAY_MS ?? 0));
}

process.on('SIGTERM', leave);
process.on('SIGINT', leave);
process.on('message', (message) => {
  if (message === 'shutdown') leave();
});
server.listen(process.env.PORT ?? 3000, () => process.send?.('ready'));
