// The cost of a shared cache that is dead, stopped, late or comes and goes, for requests that no cache has an answer to, against a gateway
// without one: its time limit for a few, nothing for the others, and none an answer.
//
//   npx tsx bench/shared-cache.ts [--quick] [--runs N] [--requests N] [--timeout MS]
//
// Each state has a gateway and a redis-server of its own on this machine. In each round each gateway in turn is asked for pages that
// nobody has, one after the other on one connection, from the moment when its server goes wrong. Times are those of the client.
import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { eventually } from '../tests/support/eventually.ts';
import { type Fault, Proxy, Redis, missing } from '../tests/support/redis.ts';
import { type Sluice, startSluice } from '../tests/support/sluice.ts';
import { readOptions } from './lib/options.ts';
import { type Bar, conclude, describe, median, printTable, short } from './lib/report.ts';

const pages = fileURLToPath(new URL('../tests/scenarios/apps/pages.js', import.meta.url));
/** Requests after a fault among which those are that wait for it. */
const FIRST = 10;
/** Requests before each round. */
const WARM = 50;

interface State {
  name: string;
  breakIt: (server: Server) => Promise<void> | void;
  mend: (server: Server) => Promise<void> | void;
}

interface Server {
  redis: Redis;
  proxy: Proxy;
}

/** Makes the server come and go, often in the middle of a request. */
async function comesAndGoes({ proxy }: Server): Promise<void> {
  proxy.fault = 'late';
  for (const fault of ['none', 'late', 'none', 'late'] satisfies Fault[]) {
    await wait(200);
    proxy.fault = fault;
  }
}

const nothing = (): void => undefined;
const STATES: State[] = [
  { name: 'no shared cache', breakIt: nothing, mend: nothing },
  { name: 'well', breakIt: nothing, mend: nothing },
  { name: 'killed', breakIt: ({ redis }) => redis.kill(), mend: ({ redis }) => redis.begin() },
  {
    name: 'stopped',
    breakIt: ({ redis }) => redis.signal('SIGSTOP'),
    mend: ({ redis }) => redis.signal('SIGCONT'),
  },
  {
    name: '50 ms late',
    breakIt: ({ proxy }) => void (proxy.fault = 'late'),
    mend: ({ proxy }) => void (proxy.fault = 'none'),
  },
  {
    name: 'late now and then',
    breakIt: (server) => void comesAndGoes(server),
    mend: async ({ proxy }) => {
      await wait(1_000);
      proxy.fault = 'none';
    },
  },
];

if (missing !== false) throw new Error(missing);
const options = readOptions({
  runs: 5,
  runsQuick: 1,
  workers: 1,
  numbers: { requests: [1_000, 100], timeout: [5, 5] },
});
const { requests = 0, timeout = 0 } = options.numbers;
const about = describe('A shared cache that is away', options);

const cleanups: (() => void | Promise<void>)[] = [];
const end = { after: (clean: () => void | Promise<void>) => void cleanups.unshift(clean) };

interface Tried {
  state: State;
  server: Server;
  sluice: Sluice;
  /** Times of each round, milliseconds. */
  times: number[][];
  failed: number;
}

const tried: Tried[] = [];
try {
  for (const state of STATES) tried.push(await begun(state));
  let number = 0;
  for (let round = 0; round < options.runs; round += 1)
    for (const one of tried) {
      // A process that was idle for long is slow at first, whatever is shared.
      for (let at = 0; at < WARM; at += 1) await statusOf(one.sluice, `/warm-${round}-${at}?cc=s-maxage=60`);
      await one.state.breakIt(one.server);
      const times: number[] = [];
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      for (let at = 0; at < requests; at += 1) {
        number += 1;
        const began = performance.now();
        const status = await statusOf(one.sluice, `/${number}?cc=s-maxage=60`, agent);
        times.push(performance.now() - began);
        if (status !== 200) one.failed += 1;
      }
      agent.destroy();
      one.times.push(times);
      await one.state.mend(one.server);
      if (one !== tried[0]) await isUp(one.sluice);
    }
} finally {
  for (const clean of cleanups) await clean();
}

const quantile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN;
const figures = tried.map(({ state: { name }, times, failed }) => {
  const of = (share: number): number => median(times.map((round) => quantile(round, share)));
  const first = median(times.map((round) => Math.max(...round.slice(0, FIRST))));
  return {
    name,
    failed,
    p50: of(0.5),
    p99: of(0.99),
    p999: of(0.999),
    first,
    slowest: Math.max(...times.flat()),
  };
});
printTable(
  ['shared cache', 'p50 ms', 'p99 ms', 'p99.9 ms', `slowest of the first ${FIRST}`, 'slowest', 'failed'],
  figures.map(({ name, p50, p99, p999, first, slowest, failed }) => [
    name,
    ...[p50, p99, p999, first, slowest].map(short),
    failed,
  ]),
);
const [without, ...others] = figures;
if (without === undefined) throw new Error('nothing was measured');
const bars: Bar[] = others.flatMap(({ name, p99, first, failed }) => {
  const [added_p99, added_first] = [p99 - without.p99, first - without.first];
  return [
    {
      what: `${name}: p99 beyond that without`,
      bar: `≤ ${timeout} ms`,
      figure: `${short(added_p99)} ms`,
      met: added_p99 <= timeout,
    },
    {
      what: `${name}: slowest of the first ${FIRST} beyond that without`,
      bar: `≤ ${timeout} ms`,
      figure: `${short(added_first)} ms`,
      met: added_first <= timeout,
    },
    { what: `${name}: requests that failed`, bar: '0', figure: String(failed), met: failed === 0 },
  ];
});
conclude('shared-cache', options, about, bars, {
  figures,
  times: tried.map(({ state, times }) => [state.name, times]),
});

async function begun(state: State): Promise<Tried> {
  const redis = await Redis.start(end);
  const proxy = await Proxy.before(end, redis);
  // The proxy itself takes time, which is no server's.
  const url = state.name.includes('late') ? proxy.url : redis.url;
  const shared = state === STATES[0] ? '' : `shared_url = "${url}"\nshared_timeout_ms = ${timeout}\n`;
  const sluice = await startSluice({
    entry: pages,
    workers: options.workers,
    config: `[cache]\nenabled = true\n${shared}[log]\naccess = false\n`,
  });
  end.after(() => sluice.stop().then(() => undefined));
  const one = { state, server: { redis, proxy }, sluice, times: [], failed: 0 };
  if (shared !== '') await isUp(sluice);
  return one;
}

async function isUp({ admin }: Sluice): Promise<void> {
  await eventually(
    async () => (await (await fetch(`${admin}/metrics`)).text()).includes('\nsluice_cache_shared_up 1\n'),
    { deadlineMs: 60_000, what: 'a shared cache in use' },
  );
}

/** 0 where there is no whole answer. */
function statusOf({ url }: Sluice, target: string, agent?: http.Agent): Promise<number> {
  return new Promise((resolve) => {
    const request = http.get(`${url}${target}`, agent === undefined ? {} : { agent }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
      answer.on('error', () => resolve(0));
    });
    request.on('error', () => resolve(0));
  });
}
