// What the storefront costs as a whole: requests per CPU second of all processes of a stack. Sluice runs it with Sluice's
// renderer and compiled templates; the peer is the same Express app with react-dom's `renderToPipeableStream`, without any
// front, so that its clients spread themselves. The shop keeps HTML in Sluice's component cache, which react-dom does not have; a
// second Sluice keeps none, so that it shows what that is worth.
//
//   npx tsx bench/storefront.ts [--quick] [--runs N] [--requests N] [--connections N] [--only sluice,sluice-makes-all,sluice-react-dom,express]
//
// Servers take turns in each round. First all get the visitors' mix, which is what the bar is about, then the mix without what
// scores products to recommend some, which has little to do with rendering, then each class of page.
import fs from 'node:fs';
import path from 'node:path';
import { type Route, buildGenerator, load } from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { cpuMeter, cpuTime } from './lib/processes.ts';
import { type Bar, conclude, describe, median, printTable, short, sum } from './lib/report.ts';
import { type Server, startDirect, startSluiceServer } from './lib/servers.ts';
import { storefrontEntry, storefrontIsBuilt, storefrontRoutes } from './lib/storefront.ts';

const RATIO_MIN = 2;
const SEED_OF_WARM_UP = 99;
const RECOMMENDING = new Set(['product', 'for-you']);

const keepsNothing = new URL('apps/keeps-nothing.js', import.meta.url).href;
const withReactDom = path.join(path.dirname(storefrontEntry), 'server.react-dom.js');

const SERVERS: Record<string, { name: string; start: (app: { workers: number }) => Promise<Server> }> = {
  sluice: { name: 'Sluice', start: (app) => startSluiceServer({ ...app, entry: storefrontEntry }) },
  'sluice-makes-all': {
    name: 'Sluice, no component cache',
    start: (app) =>
      startSluiceServer({
        ...app,
        entry: storefrontEntry,
        env: { NODE_OPTIONS: `--import=${keepsNothing}` },
      }),
  },
  'sluice-react-dom': {
    name: 'Sluice, react-dom',
    start: (app) => startSluiceServer({ ...app, entry: withReactDom }),
  },
  express: {
    name: 'Express, react-dom',
    start: (app) => startDirect({ ...app, entry: withReactDom, env: { NODE_ENV: 'production' } }),
  },
};

interface Run {
  page: string;
  server: string;
  ok: number;
  failures: number;
  cpuS: number;
  perCpuSecond: number;
}

const options = readOptions({
  runs: 7,
  runsQuick: 1,
  workers: cores,
  numbers: { requests: [3_000, 300], connections: [8, 8] },
});
if (!storefrontIsBuilt() || !fs.existsSync(withReactDom)) {
  throw new Error('the storefront is not built: run `make build`');
}
buildGenerator();
const about = describe('The storefront, whole stack', options);
const { requests = 0, connections = 0 } = options.numbers;
console.log(
  `${options.workers} Node processes each; ${connections} clients that keep their connections; ${requests} requests of` +
    ' the mix a round, a third of that of each class; a closed loop.\n',
);

const runs: Run[] = [];
const servers: [string, Server][] = [];
try {
  for (const [key, { name, start }] of Object.entries(SERVERS)) {
    if (options.only.length > 0 && !options.only.includes(key)) continue;
    servers.push([name, await start({ workers: options.workers })]);
  }
  const routes = await storefrontRoutes(servers[0]?.[1].targets[0] ?? '');
  for (const [, server] of servers) await send(server, routes, requests, SEED_OF_WARM_UP);
  const classes = [...new Set(routes.map((route) => route.class ?? ''))];
  for (let round = 0; round < options.runs; round++) {
    await compare('all', routes, requests, round);
    const others = routes.filter((route) => !RECOMMENDING.has(route.class ?? ''));
    await compare('all that recommend nothing', others, Math.ceil(requests / 2), round);
    for (const each of classes) {
      const own = routes.filter((route) => route.class === each);
      await compare(each, own, Math.ceil(requests / 3), round);
    }
  }
} finally {
  await Promise.all(servers.map(async ([, server]) => server.stop()));
}

const pages = [...new Set(runs.map(({ page }) => page))];
const names = servers.map(([name]) => name);
const of = (page: string, server: string) => runs.filter((run) => run.page === page && run.server === server);
const figure = (page: string, server: string) => median(of(page, server).map((run) => run.perCpuSecond));
printTable(
  ['pages', ...names.map((name) => `${name}, req/CPU s`), 'Sluice / Express', 'failures'],
  pages.map((page) => [
    page,
    ...names.map((name) => short(figure(page, name))),
    short(ratio(page)),
    sum(runs.filter((run) => run.page === page).map(({ failures }) => failures)),
  ]),
);
conclude('storefront', options, about, bars(), { runs });

async function compare(page: string, routes: Route[], count: number, round: number): Promise<void> {
  const first = round % Math.max(1, servers.length);
  for (const [name, server] of [...servers.slice(first), ...servers.slice(0, first)]) {
    const workers = await server.workerPids();
    const cpu = cpuMeter([...server.frontPids, ...workers]);
    // The same seed for all servers of a round: they get the same sequence of pages.
    const { ok, failed, refused } = await send(server, routes, count, round + 1);
    const after = await server.workerPids();
    if (workers.some((pid) => !after.includes(pid)))
      throw new Error(`${name}: a worker has gone, and its CPU time with it`);
    // The long lane's are started when they are needed.
    const joined = after.filter((pid) => !workers.includes(pid));
    const cpuS = sum(cpu()) + sum(joined.map((pid) => cpuTime(pid).exactS));
    runs.push({ page, server: name, ok, failures: failed + refused, cpuS, perCpuSecond: ok / cpuS });
  }
}

function send(server: Server, routes: Route[], count: number, seed: number): ReturnType<typeof load> {
  return load({
    targets: server.targets,
    routes,
    seed,
    mode: { kind: 'closed', connections, requests: count },
  });
}

/** The median of the rounds' ratios. */
function ratio(page: string): number {
  const [own, peer] = [of(page, 'Sluice'), of(page, 'Express, react-dom')];
  return median(own.map((run, round) => run.perCpuSecond / (peer[round]?.perCpuSecond ?? Number.NaN)));
}

function bars(): Bar[] {
  const whole = ratio('all');
  const failures = sum(runs.map((run) => run.failures));
  return [
    ...(Number.isNaN(whole)
      ? []
      : [
          {
            what: 'requests per CPU second of the whole stack, the mix, against Express + renderToPipeableStream',
            bar: `≥ ${RATIO_MIN}`,
            figure: whole.toFixed(2),
            met: whole >= RATIO_MIN,
          },
        ]),
    { what: 'failed requests', bar: '0', figure: String(failures), met: failures === 0 },
  ];
}
