// What a cached listing with the visitor's cart in it saves: requests per CPU second of all processes, against rendering it whole. Both
// sides are the storefront under Sluice with its renderer; one keeps listings and has the cart's count put in by an include of its own for
// each request, the other renders each. Pages are compared before, byte for byte.
//
//   npx tsx bench/composed.ts [--quick] [--runs N] [--requests N] [--connections N]
//
// Clients do not ask for compression, which would cost both sides the same.
import assert from 'node:assert/strict';
import { type Route, buildGenerator, load } from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { cpuMeter, cpuTime } from './lib/processes.ts';
import { conclude, describe, median, printTable, short, sum } from './lib/report.ts';
import { type SluiceServer, startSluiceServer } from './lib/servers.ts';
import { storefrontEntry, storefrontIsBuilt, storefrontRoutes } from './lib/storefront.ts';

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
const whole = await startSluiceServer(app);
const rounds: { composed: Figure; whole: Figure }[] = [];
try {
  const carts = await Promise.all(Array.from({ length: VISITORS }, (_, visitor) => cartOf(visitor + 1)));
  const routes = await listings(carts);
  await comparePages(routes);
  for (const server of [composed, whole]) await measured(server, routes, requests, SEED_OF_WARM_UP);
  for (let round = 0; round < options.runs; round += 1) {
    const figures = new Map<SluiceServer, Figure>();
    for (const server of round % 2 === 0 ? [composed, whole] : [whole, composed]) {
      const count = server === composed ? MORE_COMPOSED * requests : requests;
      figures.set(server, await measured(server, routes, count, round + 1));
    }
    const [with_, without] = [figures.get(composed), figures.get(whole)];
    if (with_ !== undefined && without !== undefined) rounds.push({ composed: with_, whole: without });
  }
} finally {
  await Promise.all([composed.stop(), whole.stop()]);
}

const ratios = rounds.map((round) => round.composed.per_cpu_s / round.whole.per_cpu_s);
printTable(
  ['listings', 'composed, req/CPU s', 'whole, req/CPU s', 'composed / whole', 'failures'],
  rounds.map((round, at) => [
    `round ${at + 1}`,
    short(round.composed.per_cpu_s),
    short(round.whole.per_cpu_s),
    (ratios[at] ?? Number.NaN).toFixed(1),
    round.composed.failures + round.whole.failures,
  ]),
);
const failures = sum(rounds.map((round) => round.composed.failures + round.whole.failures));
conclude(
  'composed',
  options,
  about,
  [
    {
      what: 'requests per CPU second of a cached listing with a private include, against rendering it whole',
      bar: `≥ ${RATIO_MIN}`,
      figure: median(ratios).toFixed(1),
      met: median(ratios) >= RATIO_MIN,
    },
    { what: 'failed requests', bar: '0', figure: String(failures), met: failures === 0 },
  ],
  { rounds },
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

/** What is composed is what would have been rendered, for each visitor. */
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
