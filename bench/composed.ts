// The gain of a cached listing with the visitor's cart in it: requests per CPU second of all processes, against rendering it whole. All are
// the storefront under Sluice. One keeps listings and has the cart's count put in by an include of its own for each request; the others
// render each listing: with react-dom, as the app would without Sluice's renderer, and with that renderer, without and with its component
// cache, which keeps the HTML of the cards. Pages are compared before, byte for byte.
//
//   npx tsx bench/composed.ts [--quick] [--runs N] [--requests N] [--connections N]
//
// Clients do not ask for compression, which would cost both sides the same.
import assert from 'node:assert/strict';
import path from 'node:path';
import { type Route, buildGenerator, load } from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { cpuMeter, cpuTime } from './lib/processes.ts';
import { conclude, describe, median, printTable, short, sum } from './lib/report.ts';
import { type SluiceServer, startSluiceServer } from './lib/servers.ts';
import { storefrontEntry, storefrontIsBuilt, storefrontRoutes } from './lib/storefront.ts';

const keepsNothing = new URL('apps/keeps-nothing.js', import.meta.url).href;
const withReactDom = path.join(path.dirname(storefrontEntry), 'server.react-dom.js');

const RATIO_MIN = 10;
const VISITORS = 20;
/** A request that is composed is cheap, so more of them are needed for a figure. */
const MORE_COMPOSED = 5;
const SEED_OF_WARM_UP = 99;
const CONFIG = '[cache]\nenabled = true\n[compose]\nenabled = true\n';

interface Figure {
  per_cpu_s: number;
  failures: number;
}

const options = readOptions({
  runs: 7,
  runsQuick: 1,
  workers: cores,
  numbers: { requests: [800, 200], connections: [8, 8] },
});
if (!storefrontIsBuilt()) throw new Error('the storefront is not built: run `make build`');
buildGenerator();
const about = describe('Composed pages', options);
const { requests = 0, connections = 0 } = options.numbers;
console.log(
  `${options.workers} workers each; ${connections} clients that keep their connections; listings of the storefront, ${VISITORS} visitors` +
    ` with carts; ${requests} requests a round for those rendered whole, ${MORE_COMPOSED * requests} for the others; a closed loop.\n`,
);

const app = { entry: storefrontEntry, workers: options.workers };
const composed = await startSluiceServer(app, { config: CONFIG });
const whole = await startSluiceServer({ ...app, entry: withReactDom });
const wholes: [string, SluiceServer][] = [
  ['react-dom', whole],
  ['Sluice', await startSluiceServer({ ...app, env: { NODE_OPTIONS: `--import=${keepsNothing}` } })],
  ['Sluice, component cache', await startSluiceServer(app)],
];
const servers: [string, SluiceServer][] = [['composed', composed], ...wholes];
const rounds: Map<string, Figure>[] = [];
try {
  const carts = await Promise.all(Array.from({ length: VISITORS }, (_, visitor) => cartOf(visitor + 1)));
  const routes = await listings(carts);
  await comparePages(routes);
  for (const [, server] of servers) await measured(server, routes, requests, SEED_OF_WARM_UP);
  for (let round = 0; round < options.runs; round += 1) {
    const figures = new Map<string, Figure>();
    const first = round % servers.length;
    for (const [name, server] of [...servers.slice(first), ...servers.slice(0, first)]) {
      const count = server === composed ? MORE_COMPOSED * requests : requests;
      figures.set(name, await measured(server, routes, count, round + 1));
    }
    rounds.push(figures);
  }
} finally {
  await Promise.all(servers.map(async ([, server]) => server.stop()));
}

const figure = (name: string): number[] => rounds.map((round) => round.get(name)?.per_cpu_s ?? Number.NaN);
const ratio = (name: string): number =>
  median(figure('composed').map((each, at) => each / (figure(name)[at] ?? Number.NaN)));
printTable(
  ['listings', 'req/CPU s', 'composed / it'],
  servers.map(([name]) => [name, short(median(figure(name))), ratio(name).toFixed(1)]),
);
const failures = sum(rounds.flatMap((round) => [...round.values()].map((each) => each.failures)));
const against = ratio('react-dom');
conclude(
  'composed',
  options,
  about,
  [
    {
      what: 'requests per CPU second of a cached listing with a private include, against rendering it whole with react-dom',
      bar: `≥ ${RATIO_MIN}`,
      figure: against.toFixed(1),
      met: against >= RATIO_MIN,
    },
    { what: 'failed requests', bar: '0', figure: String(failures), met: failures === 0 },
  ],
  { rounds: rounds.map((round) => Object.fromEntries(round)) },
);

/** The cookie of a visitor who has so many of a thing in the cart. */
async function cartOf(quantity: number): Promise<string> {
  const page = await (await fetch(`http://${whole.targets[0] ?? ''}/products`)).text();
  const sku = /<option value="([A-Z]+-[^"]+)" selected=""/.exec(page)?.[1] ?? '';
  const answer = await fetch(`http://${whole.targets[0] ?? ''}/cart`, {
    method: 'POST',
    body: new URLSearchParams({ sku, quantity: String(quantity) }),
    redirect: 'manual',
  });
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0];
  if (cookie === undefined) throw new Error(`nothing was put into the cart: status ${answer.status}`);
  return cookie;
}

async function listings(carts: string[]): Promise<Route[]> {
  const categories = (await storefrontRoutes(whole.targets[0] ?? '')).filter(
    (route) => route.class === 'category',
  );
  const paths = ['/products', ...categories.map((route) => route.path)];
  return paths.flatMap((path) =>
    carts.map((cart): Route => ({ class: 'listing', path, headers: [['Cookie', cart]] })),
  );
}

/** Fails if a composed page differs from the page that the app renders for the same visitor. */
async function comparePages(routes: Route[]): Promise<void> {
  for (const { path, headers = [] } of routes) {
    const [one, other] = await Promise.all(
      [composed, whole].map(async ({ targets }) => {
        const answer = await fetch(`http://${targets[0] ?? ''}${path}`, { headers });
        return { status: answer.status, html: await answer.text() };
      }),
    );
    assert.equal(one?.status, 200);
    assert.ok(one.html === other?.html, `${path} is another page when it is composed`);
  }
}

async function measured(server: SluiceServer, routes: Route[], count: number, seed: number): Promise<Figure> {
  const before = await server.workerPids();
  const meter = cpuMeter([...server.frontPids, ...before]);
  const { ok, failed, refused } = await load({
    targets: server.targets,
    routes,
    seed,
    mode: { kind: 'closed', connections, requests: count },
  });
  const after = await server.workerPids();
  if (before.some((pid) => !after.includes(pid)))
    throw new Error('a worker has gone, and its CPU time with it');
  // The long lane's are started when they are needed.
  const joined = after.filter((pid) => !before.includes(pid));
  const cpuS = sum(meter()) + sum(joined.map((pid) => cpuTime(pid).exactS));
  return { per_cpu_s: ok / cpuS, failures: failed + refused };
}
