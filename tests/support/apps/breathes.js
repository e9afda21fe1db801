// An app with loops that let others in: /loop?ms=1000&form=breathing computes for so long, item by item, and tells how often it
// yielded; forms are breathing, breather, breathe and plain, which lets nobody in. /light answers at once. Timers of the app
// are counted while a loop runs, and so are handlers that run beside it. items=1000 asks
// for so many of item_us each instead. /hold waits until
// its client leaves. A loop ends when its
// client leaves; /aborted tells how many have.
'use strict';

const fs = require('node:fs');
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

/** So that nothing is left out as unused. */
let sink = 0;

function work(steps) {
  let sum = 0;
  for (let step = 0; step < steps; step += 1) sum = Math.imul(sum + step, 31);
  return sum;
}

/** What this machine does in a microsecond, once the code is compiled. */
const stepsPerUs = Math.max(
  ...Array.from({ length: 20 }, () => {
    const began_ms = performance.now();
    sink ^= work(500_000);
    return 500 / (performance.now() - began_ms);
  }),
);

/** One item: about so many microseconds of CPU time. */
const compute = (us) => {
  sink ^= work(us * stepsPerUs);
};

/** So many, or as many as it takes for so long. */
function itemsOf({ items, ms, item_us }) {
  return items > 0 ? Array.from({ length: items }, () => item_us) : until(ms, item_us);
}

function* until(ms, item_us) {
  const end = performance.now() + ms;
  while (performance.now() < end) yield item_us;
}

/** CPU time of the main thread so far, microseconds; 0 elsewhere than on Linux. */
function cpuUs() {
  // The kernel's file is exact when it is asked for the process just before.
  process.cpuUsage();
  try {
    return Number(fs.readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]) / 1000;
  } catch {
    return 0;
  }
}

const LOOPS = {
  async breathing(items, options) {
    for await (const us of breathing(items, options)) compute(us);
  },
  async breather(items, options) {
    const breather = new Breather(options);
    for (const us of items) {
      if (breather.isDue()) await breather.breathe();
      compute(us);
    }
  },
  async breathe(items, options) {
    for (const us of items) {
      await breathe(options);
      compute(us);
    }
  },
  async plain(items) {
    for (const us of items) compute(us);
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
    if (pathname === '/cpu') return response.end(String(cpuUs()));
    if (pathname === '/hold') return response.once('close', () => response.end());
    if (pathname !== '/loop') return response.end('light\n');
    const number = (name, otherwise) => Number(searchParams.get(name) ?? otherwise);
    const loop = LOOPS[searchParams.get('form') ?? 'breathing'];
    const items = itemsOf({
      items: number('items', 0),
      ms: number('ms', 1000),
      item_us: number('item_us', 50),
    });
    const before = { yields, beside, cpu_us: cpuUs() };
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 10);
    const began_ms = performance.now();
    loops += 1;
    const leaves = new AbortController();
    response.once('close', () => leaves.abort());
    const options = { budget_ms: number('budget_ms', 10), signal: leaves.signal };
    await loop(items, options).catch((error) => {
      if (!leaves.signal.aborted) throw error;
    });
    loops -= 1;
    const took_ms = performance.now() - began_ms;
    clearInterval(timer);
    if (response.destroyed) {
      aborted += 1;
      return;
    }
    const told = {
      took_ms,
      ticks,
      yields: yields - before.yields,
      beside: beside - before.beside,
      cpu_us: cpuUs() - before.cpu_us,
    };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(told));
  })
  .listen(process.env.PORT);
