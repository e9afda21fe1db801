// The storefront with everything that sees on, as it is installed and with a dashboard open and metrics read, beside all of it off, in turns.
//
//   npx tsx bench/everything-on.ts [--quick] [--runs N] [--requests N]
//
// Off are: the histogram of runs and the CPU time of requests that share a worker (which classes cost is learned from), profiles of slow
// requests, and the admin address. The first two have no setting, only a variable for this. On both sides the access log is off.
// Rounds are short and many, because a machine's pace drifts.
import http from 'node:http';
import { type Route, buildGenerator, load } from './lib/load.ts';
import { readOptions } from './lib/options.ts';
import { cpuMeter } from './lib/processes.ts';
import { conclude, describe, median, percent, printTable, short, sum } from './lib/report.ts';
import { type SluiceServer, startSluiceServer } from './lib/servers.ts';
import { storefrontEntry, storefrontIsBuilt, storefrontRoutes } from './lib/storefront.ts';

const COST_MAX = 0.05;
const CONNECTIONS = 8;
const OFF = {
  SLUICE_WATCHES_RUNS: '0',
  SLUICE_MEASURES_SHARED: '0',
  SLUICE_PROFILE_TAIL: 'off',
};

interface Figure {
  /** Requests per second. */
  rate: number;
  /** Requests per CPU second of the gateway and the workers. */
  per_cpu_s: number;
}

const options = readOptions({ runs: 80, runsQuick: 6, workers: 2, numbers: { requests: [400, 200] } });
const { requests = 0 } = options.numbers;
if (!storefrontIsBuilt()) throw new Error('the storefront is not built: run `make build`');
buildGenerator();
const about = describe('Everything that sees on, and off', options);
const served = { entry: storefrontEntry, workers: options.workers };
const [on, off] = [
  await startSluiceServer(served),
  await startSluiceServer(served, { admin: false, env: OFF }),
];
let isOver = false;
const viewing = view();
const scraping = setInterval(
  () => void fetch(`${on.sluice.admin}/metrics`).then((page) => page.text()),
  1000,
);
const rounds: { on: Figure; off: Figure }[] = [];
try {
  const routes = await storefrontRoutes(on.targets[0] ?? '');
  for (const server of [on, off]) await measured(server, routes, 99);
  for (let round = 0; round < options.runs; round += 1) {
    const figures = new Map<SluiceServer, Figure>();
    for (const server of round % 2 === 0 ? [on, off] : [off, on])
      figures.set(server, await measured(server, routes, round + 1));
    const [with_, without] = [figures.get(on), figures.get(off)];
    if (with_ !== undefined && without !== undefined) rounds.push({ on: with_, off: without });
  }
} finally {
  clearInterval(scraping);
  isOver = true;
  await Promise.all([on.stop(), off.stop()]);
  await viewing;
}
const ratio = (of: keyof Figure): number[] => rounds.map((each) => each.on[of] / each.off[of]);
printTable(
  [
    'storefront',
    'on, req/s',
    'off, req/s',
    'on / off',
    'on, req/CPU s',
    'off, req/CPU s',
    'on / off per CPU s',
  ],
  rounds.map((each, at) => [
    `round ${at + 1}`,
    short(each.on.rate),
    short(each.off.rate),
    (ratio('rate')[at] ?? Number.NaN).toFixed(3),
    short(each.on.per_cpu_s),
    short(each.off.per_cpu_s),
    (ratio('per_cpu_s')[at] ?? Number.NaN).toFixed(3),
  ]),
);
const [cost, costCpu] = [1 - median(ratio('rate')), 1 - median(ratio('per_cpu_s'))];
conclude(
  'everything-on',
  options,
  about,
  [
    {
      what: `throughput that everything on costs the storefront (requests per CPU second: ${percent(costCpu)})`,
      bar: `≤ ${percent(COST_MAX)}`,
      figure: percent(cost),
      met: cost <= COST_MAX,
    },
  ],
  { rounds },
);

/** Reads the feed as a page does, which begins the next answer when one has ended. */
async function view(): Promise<void> {
  while (!isOver)
    await new Promise<void>((ended) => {
      http
        .get(`${on.sluice.admin}/events`, (answer) => answer.resume().once('close', () => ended()))
        .once('error', () => ended());
    });
}

async function measured(server: SluiceServer, routes: Route[], seed: number): Promise<Figure> {
  const meter = cpuMeter([...server.frontPids, ...(await server.workerPids())]);
  const { ok, failed, refused, elapsed_s } = await load({
    targets: server.targets,
    routes,
    seed,
    mode: { kind: 'closed', connections: CONNECTIONS, requests },
  });
  if (failed + refused > 0) throw new Error(`${failed + refused} requests failed`);
  return { rate: ok / elapsed_s, per_cpu_s: ok / sum(meter()) };
}
