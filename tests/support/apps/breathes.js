// An app with loops that let others in: /loop?ms=1000&form=breathing computes for so long, item by item, and tells how often it
// yielded; forms are breathing, breather, breathe and plain, which lets nobody in. /light answers at once. Timers of the app
// are counted while a loop runs, and so are handlers that run beside it. A loop ends when its
// client leaves; /aborted tells how many have.
'use strict';

const http = require('node:http');

// Counts what the package alone asks for.
let yields = 0;
const nodesImmediate = globalThis.setImmediate;
globalThis.setImmediate = (...parts) => {
  yields += 1;
  return nodesImmediate(...parts);
};
const { breathe, Breather, breathing } = require('@sluice/breathe');
globalThis.setImmediate = nodesImmediate;

/** One item: about so many microseconds of CPU time. */
function compute(us) {
  let sum = 0;
  for (let step = 0; step < us * 400; step += 1) sum = Math.imul(sum + step, 31);
  return sum;
}

function* items(ms, item_us) {
  const end = performance.now() + ms;
  while (performance.now() < end) yield item_us;
}

const LOOPS = {
  async breathing(ms, item_us, options) {
    for await (const us of breathing(items(ms, item_us), options)) compute(us);
  },
  async breather(ms, item_us, options) {
    const breather = new Breather(options);
    for (const us of items(ms, item_us)) {
      if (breather.isDue()) await breather.breathe();
      compute(us);
    }
  },
  async breathe(ms, item_us, options) {
    for (const us of items(ms, item_us)) {
      await breathe(options);
      compute(us);
    }
  },
  async plain(ms, item_us) {
    for (const us of items(ms, item_us)) compute(us);
  },
};

let loops = 0;
let beside = 0;
let aborted = 0;

http
  .createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://app.test');
    if (loops > 0) beside += 1;
    if (pathname === '/aborted') return response.end(String(aborted));
    if (pathname !== '/loop') return response.end('light\n');
    const number = (name, otherwise) => Number(searchParams.get(name) ?? otherwise);
    const loop = LOOPS[searchParams.get('form') ?? 'breathing'];
    const before = { yields, beside };
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 10);
    const began_ms = performance.now();
    loops += 1;
    const leaves = new AbortController();
    response.once('close', () => leaves.abort());
    const options = { budget_ms: number('budget_ms', 5), signal: leaves.signal };
    await loop(number('ms', 1000), number('item_us', 50), options).catch((error) => {
      if (!leaves.signal.aborted) throw error;
    });
    loops -= 1;
    const took_ms = performance.now() - began_ms;
    clearInterval(timer);
    if (response.destroyed) {
      aborted += 1;
      return;
    }
    const told = { took_ms, ticks, yields: yields - before.yields, beside: beside - before.beside };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(told));
  })
  .listen(process.env.PORT);
