// Telling the CPU time of requests that share a worker apart: what it costs the storefront, and how two ways without contexts
// would do (`own-cpu.ts` has the bar on the figures themselves).
//
//   npx tsx bench/attribution.ts [--quick] [--runs N] [--seconds N] [--requests N] [--only costs,storefront]
//
// The app (`tests/support/apps/shared.js`) knows what it burns. Two ways without contexts stand beside the measured figure:
// the process's CPU time while the request was inside, which is what a worker without windows would report, and an
// estimate by least squares of the worker's CPU time in slices of 200 ms on the classes' answers in each.
import http from 'node:http';
import { app } from '../tests/support/sluice.ts';
import { type Route, buildGenerator, load } from './lib/load.ts';
import { readOptions } from './lib/options.ts';
import { cpuMeter } from './lib/processes.ts';
import { type Bar, conclude, describe, median, percent, printTable, short, sum } from './lib/report.ts';
import { type SluiceServer, startSluiceServer } from './lib/servers.ts';
import { storefrontEntry, storefrontIsBuilt, storefrontRoutes } from './lib/storefront.ts';

const AT_ONCE = [1, 5, 20];
const LIGHT_PER_HEAVY = 9;
const CLASSES = { light: { path: '/light', burnt_ms: 3 }, heavy: { path: '/heavy', burnt_ms: 60 } };
const COST_MAX = 0.02;
const CONNECTIONS = 8;
const SLICE_MS = 200;

type Kind = keyof typeof CLASSES;
const KINDS = Object.keys(CLASSES) as Kind[];

interface Figures {
  atOnce: number;
  kind: Kind;
  alone_ms: number;
  own_ms: number;
  known: number;
  requests: number;
  process_ms: number;
  estimated_ms: number;
}

interface Slice {
  cpu_ms: number;
  light: number;
  heavy: number;
}

const options = readOptions({
  runs: 5,
  runsQuick: 1,
  workers: 1,
  numbers: { seconds: [20, 4], requests: [2_000, 200] },
});
const { seconds = 0, requests = 0 } = options.numbers;
const isAsked = (part: string) => options.only.length === 0 || options.only.includes(part);
const about = describe('Telling CPU time apart', options);
const figures: Figures[] = [];
const rounds: { with: number; without: number }[] = [];
if (isAsked('costs')) await costs();
if (isAsked('storefront')) await storefront();
conclude('attribution', options, about, bars(), { figures, rounds });

async function costs(): Promise<void> {
  const shares = { SLUICE_WORKERS_CONCURRENCY: '20', SLUICE_WORKERS_LANES: 'off' };
  const start = (env: Record<string, string>) =>
    startSluiceServer(
      { entry: app('shared.js'), workers: 1 },
      { accessLog: true, env: { ...shares, ...env } },
    );
  const [server, strict] = [await start({}), await start({ SLUICE_WORKERS_CONCURRENCY: '1' })];
  try {
    for (const atOnce of AT_ONCE) {
      // Alone again each time, as the machine may have changed its pace meanwhile.
      const alone = {
        light: await alone_ms(strict, 'light', 100),
        heavy: await alone_ms(strict, 'heavy', 20),
      };
      const from = server.sluice.logs.length;
      const slices = await mixed(server, atOnce);
      const estimate = leastSquares(slices);
      for (const kind of KINDS) {
        const reported = costsOf(server, kind, from);
        const own_ms = mean(reported.known_ms);
        const process_ms = sum(slices.map(({ cpu_ms }) => cpu_ms)) / sum(slices.map((slice) => slice[kind]));
        figures.push({
          atOnce,
          kind,
          alone_ms: alone[kind],
          own_ms,
          known: reported.known_ms.length,
          requests: reported.requests,
          process_ms,
          estimated_ms: estimate[kind],
        });
      }
    }
  } finally {
    await Promise.all([server.stop(), strict.stop()]);
  }
  printTable(
    [
      'at once',
      'class',
      'burnt, ms',
      'alone, ms',
      'own, ms',
      'off by',
      'known',
      'all CPU / answers, ms',
      'least squares, ms',
    ],
    figures.map((each) => [
      each.atOnce,
      each.kind,
      CLASSES[each.kind].burnt_ms,
      short(each.alone_ms),
      short(each.own_ms),
      percent(off(each)),
      `${each.known} of ${each.requests}`,
      short(each.process_ms),
      short(each.estimated_ms),
    ]),
  );
}

function off({ own_ms, alone_ms }: Figures): number {
  return own_ms / alone_ms - 1;
}

async function alone_ms(server: SluiceServer, kind: Kind, count: number): Promise<number> {
  const from = server.sluice.logs.length;
  for (let asked = 0; asked < count; asked += 1) await ask(server, kind);
  await reported();
  return mean(costsOf(server, kind, from).known_ms);
}

/** A closed loop of the mix, with what was used and answered in each slice of it. */
async function mixed(server: SluiceServer, atOnce: number): Promise<Slice[]> {
  const meter = cpuMeter(await server.workerPids());
  const slices: Slice[] = [];
  const slice = { cpu_ms: 0, light: 0, heavy: 0 };
  let before_ms = 0;
  const clock = setInterval(() => {
    const used_ms = sum(meter()) * 1000;
    slices.push({ ...slice, cpu_ms: used_ms - before_ms });
    before_ms = used_ms;
    slice.light = 0;
    slice.heavy = 0;
  }, SLICE_MS);
  const until = Date.now() + seconds * 1000;
  let sent = 0;
  const user = async (): Promise<void> => {
    while (Date.now() < until) {
      const kind = sent++ % (LIGHT_PER_HEAVY + 1) === LIGHT_PER_HEAVY ? 'heavy' : 'light';
      await ask(server, kind);
      slice[kind] += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, user));
  clearInterval(clock);
  await reported();
  return slices;
}

/** CPU milliseconds of one answer of each class that explain the slices best. */
function leastSquares(slices: Slice[]): Record<Kind, number> {
  const dot = (one: (slice: Slice) => number, other: (slice: Slice) => number) =>
    sum(slices.map((slice) => one(slice) * other(slice)));
  const [light, heavy, cpu] = [
    (slice: Slice) => slice.light,
    (slice: Slice) => slice.heavy,
    (slice: Slice) => slice.cpu_ms,
  ];
  const [ll, lh, hh] = [dot(light, light), dot(light, heavy), dot(heavy, heavy)];
  const [lc, hc] = [dot(light, cpu), dot(heavy, cpu)];
  const determinant = ll * hh - lh * lh;
  return { light: (lc * hh - hc * lh) / determinant, heavy: (hc * ll - lc * lh) / determinant };
}

function costsOf(server: SluiceServer, kind: Kind, from: number): { known_ms: number[]; requests: number } {
  const lines = server.sluice.logs
    .slice(from)
    .filter((line) => line['event'] === 'access' && line['target'] === CLASSES[kind].path);
  const known_ms = lines.map(({ cpu_ms }) => cpu_ms).filter((cost) => typeof cost === 'number');
  return { known_ms, requests: lines.length };
}

function ask(server: SluiceServer, kind: Kind): Promise<void> {
  return new Promise((done, failed) => {
    const request = http.get(`http://${server.targets[0]}${CLASSES[kind].path}`, (response) => {
      if (response.statusCode !== 200) failed(new Error(`${kind}: ${response.statusCode}`));
      response.resume().on('end', done);
    });
    request.on('error', failed);
  });
}

/** Workers report within a moment of the answer. */
function reported(): Promise<void> {
  return new Promise((done) => setTimeout(done, 1_000));
}

/** Requests per CPU second of the workers, with and without windows, in turns. */
async function storefront(): Promise<void> {
  if (!storefrontIsBuilt()) throw new Error('the storefront is not built: run `make build`');
  buildGenerator();
  const start = (measures: string) =>
    startSluiceServer(
      { entry: storefrontEntry, workers: 1 },
      {
        env: {
          SLUICE_WORKERS_CONCURRENCY: String(CONNECTIONS),
          SLUICE_WORKERS_LANES: 'off',
          SLUICE_MEASURES_SHARED: measures,
        },
      },
    );
  const servers = { with: await start('1'), without: await start('0') };
  try {
    const routes = await storefrontRoutes(servers.with.targets[0] ?? '');
    for (const server of [servers.with, servers.without]) await perCpuSecond(server, routes, requests, 99);
    for (let round = 0; round < options.runs; round += 1) {
      const order = ['with', 'without'] as const;
      const figure = { with: 0, without: 0 };
      for (const which of round % 2 === 0 ? order : order.toReversed()) {
        figure[which] = await perCpuSecond(servers[which], routes, requests, round + 1);
      }
      rounds.push(figure);
    }
  } finally {
    await Promise.all([servers.with.stop(), servers.without.stop()]);
  }
  printTable(
    ['storefront, req/CPU s of the worker', 'with windows', 'without', 'ratio'],
    rounds.map((each, at) => [
      `round ${at + 1}`,
      short(each.with),
      short(each.without),
      (each.with / each.without).toFixed(3),
    ]),
  );
}

async function perCpuSecond(
  server: SluiceServer,
  routes: Route[],
  count: number,
  seed: number,
): Promise<number> {
  const meter = cpuMeter(await server.workerPids());
  const { ok, failed, refused } = await load({
    targets: server.targets,
    routes,
    seed,
    mode: { kind: 'closed', connections: CONNECTIONS, requests: count },
  });
  if (failed + refused > 0) throw new Error(`${failed + refused} requests failed`);
  return ok / sum(meter());
}

function bars(): Bar[] {
  if (rounds.length === 0) return [];
  const cost = 1 - median(rounds.map((each) => each.with / each.without));
  return [
    {
      what: 'cost of telling apart on the storefront, requests per CPU second of the worker',
      bar: `≤ ${percent(COST_MAX)}`,
      figure: percent(cost),
      met: cost <= COST_MAX,
    },
  ];
}

function mean(values: number[]): number {
  return sum(values) / values.length;
}
