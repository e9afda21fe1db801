// The storefront with everything that sees on, as it is installed and with a dashboard open and metrics read, beside all of it off, in turns.
//
//   npx tsx bench/everything-on.ts [--quick] [--runs N] [--requests N] [--starts N] [--only serving,young]
//
// `serving` measures servers that go on, `young` the first 30 s of servers that are started anew `--starts` times, as a new worker measures most.
//
// Off are: the histogram of runs and the CPU time of requests that share a worker (which classes cost is learned from), profiles of slow
// requests, and the admin address. The first two have no setting, only a variable for this. On both sides the access log is off.
// Rounds are short and many, because a machine's pace drifts.
import http from 'node:http';
import { type Route, buildGenerator, load } from './lib/load.ts';
import { readOptions } from './lib/options.ts';
import { cpuMeter } from './lib/processes.ts';
import { type Bar, conclude, describe, median, percent, printTable, short, sum } from './lib/report.ts';
import { type SluiceServer, startSluiceServer } from './lib/servers.ts';
import { storefrontEntry, storefrontIsBuilt, storefrontRoutes } from './lib/storefront.ts';

const COST_MAX = 0.05;
const CONNECTIONS = 8;
const YOUNG_MS = 30_000;
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

interface Round {
  on: Figure;
  off: Figure;
}

const options = readOptions({
  runs: 80,
  runsQuick: 6,
  workers: 2,
  numbers: { requests: [400, 200], starts: [4, 1] },
});
const { requests = 0, starts = 0 } = options.numbers;
const isAsked = (part: string): boolean => options.only.length === 0 || options.only.includes(part);
if (!storefrontIsBuilt()) throw new Error('the storefront is not built: run `make build`');
buildGenerator();
const about = describe('Everything that sees on, and off', options);
const rounds = isAsked('serving') ? await serving() : [];
const young = isAsked('young') ? await youngOnes() : [];
const bars: Bar[] = [];
if (rounds.length > 0) {
  print('storefront', 'round', rounds);
  const [cost, costCpu] = [costOf(rounds, 'rate'), costOf(rounds, 'per_cpu_s')];
  const what = `throughput that everything on costs the storefront (requests per CPU second: ${percent(costCpu)})`;
  bars.push({ what, bar: `≤ ${percent(COST_MAX)}`, figure: percent(cost), met: cost <= COST_MAX });
}
if (young.length > 0) {
  print('first 30 s', 'start', young);
  const cost = costOf(young, 'per_cpu_s');
  const what = 'requests per CPU second that everything on costs in the first 30 s';
  bars.push({ what, bar: `≤ ${percent(COST_MAX)}`, figure: percent(cost), met: cost <= COST_MAX });
}
conclude('everything-on', options, about, bars, { rounds, young });

/** Both, warm, in turns. */
async function serving(): Promise<Round[]> {
  return beside(async (on, off, routes) => {
    for (const server of [on, off]) await measured(server, routes, 99);
    const found: Round[] = [];
    for (let round = 0; round < options.runs; round += 1)
      found.push(await inTurn(on, off, (server) => measured(server, routes, round + 1), round));
    return found;
  });
}

/** All that both do in their first 30 s, as one round. */
async function youngOnes(): Promise<Round[]> {
  const found: Round[] = [];
  for (let start = 0; start < starts; start += 1) {
    found.push(
      await beside(async (on, off, routes) => {
        const begun_ms = performance.now();
        const taken: Round[] = [];
        while (performance.now() - begun_ms < YOUNG_MS) {
          const seed = taken.length + 1;
          taken.push(await inTurn(on, off, (server) => measured(server, routes, seed), seed));
        }
        return { on: together(taken.map((each) => each.on)), off: together(taken.map((each) => each.off)) };
      }),
    );
  }
  return found;
}

function together(figures: Figure[]): Figure {
  const of = (name: keyof Figure): number => figures.length / sum(figures.map((each) => 1 / each[name]));
  return { rate: of('rate'), per_cpu_s: of('per_cpu_s') };
}

async function inTurn(
  on: SluiceServer,
  off: SluiceServer,
  measure: (server: SluiceServer) => Promise<Figure>,
  round: number,
): Promise<Round> {
  const first = await measure(round % 2 === 0 ? on : off);
  const second = await measure(round % 2 === 0 ? off : on);
  return round % 2 === 0 ? { on: first, off: second } : { on: second, off: first };
}

/** Starts both, with a dashboard open and metrics read from the one that sees, and stops them in the end. */
async function beside<T>(
  work: (on: SluiceServer, off: SluiceServer, routes: Route[]) => Promise<T>,
): Promise<T> {
  const served = { entry: storefrontEntry, workers: options.workers };
  const [on, off] = [
    await startSluiceServer(served),
    await startSluiceServer(served, { admin: false, env: OFF }),
  ];
  const { admin } = on.sluice;
  const watching = new AbortController();
  const viewing = view(`${admin}/events`, watching.signal);
  const scraping = setInterval(() => void fetch(`${admin}/metrics`).then((page) => page.text()), 1000);
  try {
    return await work(on, off, await storefrontRoutes(on.targets[0] ?? ''));
  } finally {
    clearInterval(scraping);
    watching.abort();
    await Promise.all([on.stop(), off.stop()]);
    await viewing;
  }
}

/** The part that it costs, by the median of the rounds' ratios. */
function costOf(of: Round[], name: keyof Figure): number {
  return 1 - median(of.map(({ on, off }) => on[name] / off[name]));
}

function print(title: string, each: string, of: Round[]): void {
  const ratio = ({ on, off }: Round, name: keyof Figure): string => (on[name] / off[name]).toFixed(3);
  printTable(
    [title, 'on, req/s', 'off, req/s', 'on / off', 'on, req/CPU s', 'off, req/CPU s', 'on / off per CPU s'],
    of.map((round, at) => [
      `${each} ${at + 1}`,
      short(round.on.rate),
      short(round.off.rate),
      ratio(round, 'rate'),
      short(round.on.per_cpu_s),
      short(round.off.per_cpu_s),
      ratio(round, 'per_cpu_s'),
    ]),
  );
}

/** Reads the feed as a page does, which begins the next answer when one has ended. */
async function view(events: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted)
    await new Promise<void>((ended) => {
      http.get(events, (answer) => answer.resume().once('close', () => ended())).once('error', () => ended());
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
