// Side by side: the storefront and a trivial handler through Sluice and through what users would pick instead.
//
//   npx tsx bench/serve.ts [--quick] [--runs N] [--requests N] [--workers N] [--only sluice,sluice-log,nginx-haproxy,haproxy,cluster]
//
// For each app all servers run at once; in every round each of them gets the same load in turn, the others idle. A cell of
// the table is the median of the rounds. Requests per CPU second of the front: answers divided by user and system time of
// the processes between clients and workers, over all rounds. Evenness: CPU time of the busiest worker over that of the
// least busy, median of the rounds.
import { app as fixture } from '../tests/support/sluice.ts';
import { type LoadResult, type Route, buildGenerator, load } from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { cpuMeter } from './lib/processes.ts';
import { type Bar, conclude, describe, median, percent, printTable, short, sum } from './lib/report.ts';
import {
  type AppToServe,
  type Server,
  startCluster,
  startHaproxy,
  startNginxHaproxy,
  startSluiceServer,
} from './lib/servers.ts';
import { storefrontEntry, storefrontIsBuilt, storefrontRoutes } from './lib/storefront.ts';

const CONCURRENCIES = [5, 13, 20];

const SERVERS: Record<string, (app: AppToServe) => Promise<Server>> = {
  sluice: (app) => startSluiceServer(app),
  'sluice-log': (app) => startSluiceServer(app, { accessLog: true }),
  'nginx-haproxy': startNginxHaproxy,
  haproxy: startHaproxy,
  cluster: startCluster,
};

interface Run {
  app: string;
  concurrency: number;
  server: string;
  round: number;
  load: LoadResult;
  frontCpuS: number;
  workersCpuS: number[];
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
  unevenness: number;
  variation: number;
}

const options = readOptions({
  runs: 3,
  runsQuick: 1,
  workers: cores,
  numbers: { requests: [10_000, 1_500], storefrontRequests: [10_000, 250] },
});
buildGenerator();
const about = describe('Serving: Sluice and its peers', options, ['nginx', 'haproxy']);
console.log(
  `${options.workers} Node processes each; one thread of the front each (nginx 1 + HAProxy 1); clients keep their connections;` +
    ` ${options.numbers['requests']} requests a cell and round; a closed loop.\n`,
);

const runs: Run[] = [];
runs.push(
  ...(await compare('trivial', fixture('trivial.js'), options.numbers['requests'] ?? 0, async () => [
    { path: '/' },
  ])),
);
if (storefrontIsBuilt()) {
  const requests = options.numbers['storefrontRequests'] ?? 0;
  runs.push(...(await compare('storefront', storefrontEntry, requests, storefrontRoutes)));
} else {
  console.log('The storefront is not built (`make build`), so it is left out.\n');
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
    short(cell.unevenness),
    percent(cell.variation),
  ]),
);
console.log('node:cluster has its primary as the front; it hands over connections once, not requests.\n');
conclude('serve', options, about, bars(), { cells, runs });

async function compare(
  name: string,
  entry: string,
  requests: number,
  routesOf: (target: string) => Promise<Route[]>,
): Promise<Run[]> {
  const wanted = Object.entries(SERVERS).filter(
    ([key]) => options.only.length === 0 || options.only.includes(key),
  );
  const servers: Server[] = [];
  const results: Run[] = [];
  try {
    for (const [, start] of wanted) servers.push(await start({ entry, workers: options.workers }));
    const routes = await routesOf(servers[0]?.targets[0] ?? '');
    for (const server of servers) {
      await load(planFor(server, routes, 13, Math.ceil(requests / 10), 99));
    }
    for (let round = 0; round < options.runs; round++) {
      for (const concurrency of CONCURRENCIES) {
        for (const server of rotated(servers, round)) {
          results.push(await measure(name, server, routes, concurrency, requests, round));
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
  };
}

function planFor(server: Server, routes: Route[], connections: number, requests: number, seed: number) {
  return { targets: server.targets, routes, seed, mode: { kind: 'closed' as const, connections, requests } };
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
    return [
      {
        app: first.app,
        concurrency: first.concurrency,
        server: first.server,
        failures: sum(group.map(({ load: { failed, refused } }) => failed + refused)),
        resent: sum(group.map((run) => run.load.stale_retries)),
        p50: median(group.map((run) => run.load.latency_ms.p50 ?? Number.NaN)),
        p95: median(group.map((run) => run.load.latency_ms.p95 ?? Number.NaN)),
        p99: median(group.map((run) => run.load.latency_ms.p99 ?? Number.NaN)),
        perSecond: median(group.map((run) => run.load.ok / run.load.elapsed_s)),
        perFrontCpuSecond: sum(group.map((run) => run.load.ok)) / sum(group.map((run) => run.frontCpuS)),
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

function bars(): Bar[] {
  const perCpuSecond = (server: string) => {
    const group = runs.filter((run) => run.app === 'trivial' && run.server === server);
    return sum(group.map((run) => run.load.ok)) / sum(group.map((run) => run.frontCpuS));
  };
  const [sluice, chained, haproxy] = [
    perCpuSecond('Sluice'),
    perCpuSecond('nginx + HAProxy'),
    perCpuSecond('HAProxy'),
  ];
  const found: Bar[] = [];
  const add = (against: string, peer: number, bar: string, share: number) => {
    if (!Number.isFinite(sluice) || !Number.isFinite(peer)) return;
    const figure = `${short(sluice)} / ${short(peer)} = ${(sluice / peer).toFixed(2)}`;
    found.push({
      what: `requests per CPU second, trivial handler, against ${against}`,
      bar,
      figure,
      met: sluice / peer > share,
    });
  };
  add('nginx + HAProxy', chained, '> 1', 1);
  add('HAProxy alone', haproxy, '≥ 0.8', 0.8);
  const failures = sum(cells.filter((cell) => cell.server.startsWith('Sluice')).map((cell) => cell.failures));
  if (Number.isFinite(sluice)) {
    found.push({
      what: 'failed requests through Sluice',
      bar: '0',
      figure: String(failures),
      met: failures === 0,
    });
  }
  return found;
}
