// Side by side: the storefront and a trivial handler through Sluice and through what users would pick instead.
//
//   npx tsx bench/serve.ts [--quick] [--runs N] [--requests N] [--storefrontRequests N] [--workers N] [--app all|trivial|items|storefront|suggest]
//     [--only sluice,sluice-strict,sluice-log,nginx-haproxy,haproxy,haproxy-leastconn,cluster,express]
//
// For each app all servers run at once; in every round each of them gets the same load in turn, the others idle. A cell of
// the table is the median of the rounds. Requests per CPU second of the front: answers divided by user and system time of
// the processes between clients and workers, over all rounds. Evenness: CPU time of the busiest worker over that of the
// least busy, median of the rounds. Bars are about the medians of the rounds' ratios.
import path from 'node:path';
import { app as fixture } from '../tests/support/sluice.ts';
import { type Route, buildGenerator, load } from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { type Pins, checkPinned, onCpus, pinsFor, unpinned } from './lib/pin.ts';
import { cpuMeter, cpuMeterOf } from './lib/processes.ts';
import { conclude, describe, median, percent, printTable, short, sum } from './lib/report.ts';
import {
  type AppToServe,
  type Server,
  startCluster,
  startDirect,
  startHaproxy,
  startHaproxyLeastconn,
  startNginxHaproxy,
  startSluiceServer,
} from './lib/servers.ts';
import { storefrontEntry, storefrontIsBuilt, storefrontRoutes } from './lib/storefront.ts';
import { type Run, bars } from './serve/bars.ts';

interface Front {
  name?: string;
  start(app: AppToServe): Promise<Server>;
}

const SLUICE: Front = { start: async (app) => startSluiceServer(app) };
const CLUSTER: Front = { start: startCluster };
/** The fronts; `name` for one that says less of itself elsewhere. */
const SERVERS: Record<string, Front> = {
  sluice: SLUICE,
  'sluice-strict': {
    name: 'Sluice, strict',
    start: async (app) => startSluiceServer(app, { flags: ['--concurrency', '1'] }),
  },
  'sluice-log': { start: async (app) => startSluiceServer(app, { accessLog: true }) },
  'nginx-haproxy': { start: startNginxHaproxy },
  haproxy: { start: startHaproxy },
  'haproxy-leastconn': { start: startHaproxyLeastconn },
  cluster: CLUSTER,
};

interface App {
  entry: string;
  servers: typeof SERVERS;
  workers: number;
  pins: Pins;
  /** Clients that ask at once. */
  clients: number[];
  requests: number;
  routes(target: string): Promise<Route[]>;
}

interface Cell {
  app: string;
  concurrency: number;
  server: string;
  failures: number;
  resent: number;
  p50: number;
  p95: number;
  p99: number;
  perSecond: number;
  perFrontCpuSecond: number;
  perCpuSecond: number;
  unevenness: number;
  variation: number;
}

/** Front and processes of the trivial handler share so many CPUs, whatever the machine has. */
const TRIVIAL_CPUS = 2;

const options = readOptions({
  runs: 5,
  runsQuick: 1,
  workers: cores,
  words: { app: ['all', 'trivial', 'items', 'storefront', 'suggest'] },
  numbers: { requests: [20_000, 1_500], storefrontRequests: [10_000, 250] },
});
buildGenerator();
const about = describe('Serving: Sluice and its peers', options, ['nginx', 'haproxy']);
const { requests = 0, storefrontRequests = 0 } = options.numbers;
console.log(
  `One thread of the front each (nginx 1 + HAProxy 1); clients keep their connections; a closed loop. The trivial handler has ${TRIVIAL_CPUS} Node` +
    ` processes, with the front on ${TRIVIAL_CPUS} CPUs, and ${requests} requests a cell and round; the storefront ${options.workers} and ${storefrontRequests}.\n`,
);

const APPS: Record<string, App> = {
  trivial: {
    entry: fixture('trivial.js'),
    servers: SERVERS,
    workers: TRIVIAL_CPUS,
    pins: cores > TRIVIAL_CPUS ? pinsFor(TRIVIAL_CPUS) : unpinned,
    clients: [8, 32, 128],
    requests,
    routes: async () => [{ path: '/' }],
  },
  // A route of Express that answers JSON at once: what a gateway adds to the processes' own work, and to one client's wait.
  items: {
    entry: path.join(import.meta.dirname, 'apps/items.cjs'),
    servers: { sluice: SLUICE, cluster: CLUSTER },
    workers: TRIVIAL_CPUS,
    pins: cores > TRIVIAL_CPUS ? pinsFor(TRIVIAL_CPUS) : unpinned,
    clients: [1, 8, 32],
    requests,
    routes: async () => [{ path: '/api/items/17' }],
  },
  storefront: {
    entry: storefrontEntry,
    servers: SERVERS,
    workers: options.workers,
    pins: unpinned,
    clients: [5, 13, 20],
    requests: storefrontRequests,
    routes: storefrontRoutes,
  },
  // An answer of the shop's that renders nothing: what a front costs shows.
  suggest: {
    entry: storefrontEntry,
    servers: {
      ...Object.fromEntries(Object.entries(SERVERS).filter(([key]) => !key.startsWith('nginx'))),
      express: { name: 'Express alone', start: startDirect },
    },
    workers: options.workers,
    pins: unpinned,
    clients: [8],
    requests: storefrontRequests,
    routes: async (target) =>
      (await storefrontRoutes(target)).filter(({ class: name }) => name === 'suggest'),
  },
};

const runs: Run[] = [];
for (const [name, app] of Object.entries(APPS)) {
  if (!['all', name].includes(options.words['app'] ?? 'all')) continue;
  if (app.entry === storefrontEntry && !storefrontIsBuilt()) {
    console.log(`The storefront is not built (\`make build\`), so ${name} is left out.\n`);
    continue;
  }
  runs.push(...(await compare(name, app)));
}

const cells = summarize(runs);
printTable(
  [
    'app',
    'at once',
    'front',
    'failures',
    'p50 ms',
    'p95 ms',
    'p99 ms',
    'req/s',
    'req per front CPU s',
    'req per CPU s of all',
    'busiest/least worker',
    'CV',
  ],
  cells.map((cell) => [
    cell.app,
    cell.concurrency,
    cell.server,
    cell.resent > 0 ? `${cell.failures} (+${cell.resent} resent)` : cell.failures,
    short(cell.p50),
    short(cell.p95),
    short(cell.p99),
    short(cell.perSecond),
    short(cell.perFrontCpuSecond),
    short(cell.perCpuSecond),
    short(cell.unevenness),
    percent(cell.variation),
  ]),
);
console.log('node:cluster has its primary as the front; it hands over connections once, not requests.\n');
conclude('serve', options, about, bars(runs), { cells, runs });

async function compare(name: string, app: App): Promise<Run[]> {
  const wanted = Object.entries(app.servers).filter(
    ([key]) => options.only.length === 0 || options.only.includes(key),
  );
  const servers: Server[] = [];
  const results: Run[] = [];
  try {
    for (const [, each] of wanted) {
      const { entry, workers } = app;
      const server = await onCpus(app.pins, async () => each.start({ entry, workers }));
      servers.push({ ...server, name: each.name ?? server.name });
      checkPinned([...server.frontPids, ...(await server.workerPids())], app.pins, server.name);
    }
    const [first] = servers;
    if (first === undefined) return [];
    const routes = await app.routes(first.targets[0] ?? '');
    for (const server of servers) {
      await load(planFor(server, routes, 13, Math.ceil(app.requests / 10), 99));
    }
    for (let round = 0; round < options.runs; round++) {
      for (const concurrency of app.clients) {
        for (const server of rotated(servers, round)) {
          results.push(await measure(name, server, routes, concurrency, app.requests, round));
        }
      }
    }
  } finally {
    await Promise.all(servers.map(async (server) => server.stop()));
  }
  return results;
}

async function measure(
  app: string,
  server: Server,
  routes: Route[],
  concurrency: number,
  requests: number,
  round: number,
): Promise<Run> {
  const front = cpuMeter(server.frontPids);
  const workers = cpuMeter(await server.workerPids());
  const all = await cpuMeterOf(async () => [
    ...new Set([...server.frontPids, ...(await server.workerPids())]),
  ]);
  // The same seed for all servers of a round: they get the same sequence of pages.
  const result = await load(planFor(server, routes, concurrency, requests, round + 1));
  return {
    app,
    concurrency,
    server: server.name,
    round,
    load: result,
    frontCpuS: sum(front()),
    workersCpuS: workers(),
    cpuS: await all(),
  };
}

function planFor(
  server: Server,
  routes: Route[],
  connections: number,
  requests: number,
  seed: number,
): Parameters<typeof load>[0] {
  return { targets: server.targets, routes, seed, mode: { kind: 'closed', connections, requests } };
}

function rotated<T>(all: T[], by: number): T[] {
  const at = by % Math.max(1, all.length);
  return [...all.slice(at), ...all.slice(0, at)];
}

function summarize(all: Run[]): Cell[] {
  const groups = new Map<string, Run[]>();
  for (const run of all) {
    const key = `${run.app} ${run.concurrency} ${run.server}`;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const latency = (at: 'p50' | 'p95' | 'p99'): number =>
      median(group.map((run) => run.load.latency_ms[at] ?? Number.NaN));
    const answers = sum(group.map((run) => run.load.ok));
    return [
      {
        app: first.app,
        concurrency: first.concurrency,
        server: first.server,
        failures: sum(group.map(({ load: { failed, refused } }) => failed + refused)),
        resent: sum(group.map((run) => run.load.stale_retries)),
        p50: latency('p50'),
        p95: latency('p95'),
        p99: latency('p99'),
        perSecond: median(group.map((run) => run.load.ok / run.load.elapsed_s)),
        perFrontCpuSecond: answers / sum(group.map((run) => run.frontCpuS)),
        perCpuSecond: answers / sum(group.map((run) => run.cpuS)),
        unevenness: median(group.map((run) => Math.max(...run.workersCpuS) / Math.min(...run.workersCpuS))),
        variation: median(group.map((run) => variation(run.workersCpuS))),
      },
    ];
  });
}

/** Standard deviation over mean. */
function variation(values: number[]): number {
  const mean = sum(values) / values.length;
  return Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / values.length) / mean;
}
