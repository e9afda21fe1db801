// The app of the scheduling benchmark. What a path costs is known here alone; no server is told.
//
// Work is a fixed number of turns, counted once on this machine (`bench/schedule/cost.ts`) and passed as BENCH_TURNS_PER_MS.
// A clock would not do: wall-clock time goes on while a worker is kept off its core, and the CPU time of a process is shared
// by its threads, where a server runs its workers as threads.
'use strict';

const http = require('node:http');
const { turn } = require('./lib/turns.cjs');

const turnsPerMs = Number(process.env.BENCH_TURNS_PER_MS);
if (!(turnsPerMs > 0)) throw new Error('BENCH_TURNS_PER_MS has to say how many turns a millisecond has');

/** 50 to 150, the same for the same text. */
function costOf(slug) {
  let hash = 7;
  for (const letter of slug) hash = (hash * 31 + letter.charCodeAt(0)) % 101;
  return 50 + hash;
}

/** First segments of the path → milliseconds of CPU. */
const COSTS_MS = {
  '/api/suggest': () => 5,
  '/page': () => 100,
  '/product': (rest) => costOf(rest),
  '/report': () => 1000,
  '/quote': () => 5,
  '/light': () => 3,
  '/heavy': () => 60,
};

/** Milliseconds that a request waits for somebody else before its work, as in an app that fetches its data. */
const WAITS_MS = { '/quote': 50, '/light': 20, '/heavy': 60 };

const server = http.createServer((request, response) => {
  const path = request.url.split('?')[0];
  const [name] = Object.keys(COSTS_MS).filter((each) => path === each || path.startsWith(`${each}/`));
  if (name === undefined) return response.writeHead(path === '/' ? 200 : 404).end();
  const answer = () => {
    turn(COSTS_MS[name](path.slice(name.length + 1)) * turnsPerMs);
    response.end('done\n');
  };
  const wait_ms = WAITS_MS[name];
  if (wait_ms !== undefined) return setTimeout(answer, wait_ms);
  answer();
});

server.listen(process.env.PORT ?? 3000);
process.on('SIGTERM', () => process.exit(0));
