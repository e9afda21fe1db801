// Holds up its worker in the way that its path names; `?ms=` says for how long at least, over and over, and `&after=` for how long
// after its answer.
'use strict';

const fs = require('node:fs');
const http = require('node:http');

const text = JSON.stringify(
  Array.from({ length: 200_000 }, (_, id) => ({ id, name: `product ${id}`, tags: ['a', 'b'] })),
);

const faults = {
  // Backtracks twice as long with each letter more.
  '/regex': (round) => /^(a+)+$/.test(`${'a'.repeat(18 + Math.min(round, 6))}!`),
  '/sync-read': () => fs.readFileSync(process.execPath),
  '/parse': () => JSON.parse(text),
  '/collections': () => {
    let kept = [];
    for (let round = 0; round < 10; round += 1)
      kept = Array.from({ length: 100_000 }, (_, at) => ({ at, kept: [] }));
    return kept.length;
  },
};

http
  .createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://app');
    // What it needs comes first, so that the run does not begin with the request.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const holdUp = (ms) => {
      const until = performance.now() + Number(ms ?? 0);
      for (let round = 0; performance.now() < until; round += 1) faults[pathname]?.(round);
    };
    holdUp(searchParams.get('ms'));
    response.end('done');
    holdUp(searchParams.get('after'));
  })
  .listen(process.env.PORT);
