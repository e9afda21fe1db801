// More arrivals than the workers can answer: an open loop at twice and ten times the capacity.
//
//   npx tsx bench/overload.ts [--quick] [--runs N] [--workers N] [--ms N] [--seconds N] [--connections N]
//
// Capacity is what a closed loop gets through Sluice just before, in the same round. Goodput is what was answered with 2xx or
// 3xx per second of the arrivals, the first tenth left out. A refusal is a 503; its time counts from the intended arrival.
// By default one core is left to the gateway and the generator: at ten times the capacity the generator alone would
// otherwise take CPU from the renders that are measured. `--workers` changes that.
import { app } from '../tests/support/sluice.ts';
import { type LoadResult, buildGenerator, load } from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { memory } from './lib/processes.ts';
import {
  type Bar,
  conclude,
  describe,
  mebibytes,
  median,
  percent,
  printTable,
  short,
  sum,
} from './lib/report.ts';
import { sample } from './lib/sample.ts';
import { startSluiceServer } from './lib/servers.ts';

const FACTORS = [2, 10];

interface Overload {
  factor: number;
  capacity: number;
  goodput: number;
  load: LoadResult;
  rssMax: number;
  /** Largest in the second half of the arrivals over the largest in the first. */
  rssGrowth: number;
}

const options = readOptions({
  runs: 3,
  runsQuick: 1,
  workers: Math.max(1, cores - 1),
  numbers: { ms: [5, 5], seconds: [20, 5], connections: [16, 16] },
});
const { ms = 0, seconds = 0, connections = 0 } = options.numbers;
buildGenerator();
const about = describe('Overload', options);
console.log(
  `Renders of ${ms} ms of CPU; ${seconds} s of arrivals for each factor and round; Sluice as it comes.\n`,
);

const routes = [{ path: `/spin?ms=${ms}` }];
const server = await startSluiceServer({ entry: app('spin.js'), workers: options.workers });
const rssIdle = memory(server.gatewayPid).rssBytes;
const rounds: Overload[] = [];
try {
  await capacityOf(2);
  for (let round = 0; round < options.runs; round++) {
    for (const factor of FACTORS)
      rounds.push(await overload(factor, await capacityOf(Math.max(2, seconds / 3)), round));
  }
} finally {
  await server.stop();
}

async function capacityOf(forSeconds: number): Promise<number> {
  const requests = Math.ceil((forSeconds * 1000 * options.workers) / ms);
  const mode = { kind: 'closed' as const, connections, requests };
  const result = await load({ targets: server.targets, routes, mode });
  if (result.failed + result.refused > 0)
    throw new Error(`requests failed while capacity was measured: ${JSON.stringify(result.errors)}`);
  return result.ok / result.elapsed_s;
}

async function overload(factor: number, capacity: number, round: number): Promise<Overload> {
  const rate = capacity * factor;
  const rss = sample(() => memory(server.gatewayPid).rssBytes, 100);
  const result = await load({
    targets: server.targets,
    routes,
    seed: round + 1,
    timeout_ms: 60_000,
    mode: {
      kind: 'open',
      rate_per_s: rate,
      duration_ms: seconds * 1000,
      requests_max: Math.ceil(rate * seconds * 2),
      measure_from_ms: seconds * 100,
    },
  });
  await rss.stop();
  const largest = (from: number, to: number) =>
    Math.max(...rss.samples.filter(({ at_ms }) => at_ms >= from && at_ms < to).map(({ value }) => value));
  const half = seconds * 500;
  return {
    factor,
    capacity,
    goodput: result.ok_in_window / (result.window_s ?? Number.NaN),
    load: result,
    rssMax: largest(0, Number.POSITIVE_INFINITY),
    rssGrowth: largest(half, Number.POSITIVE_INFINITY) / largest(0, half),
  };
}

const summary = FACTORS.map((factor) => {
  const all = rounds.filter((round) => round.factor === factor);
  const middle = (figure: (round: Overload) => number | undefined) =>
    median(all.map((round) => figure(round) ?? Number.NaN));
  return {
    factor,
    capacity: middle((round) => round.capacity),
    share: middle((round) => round.goodput / round.capacity),
    refused: middle((round) => round.load.refused / round.load.sent),
    refusedP50: middle((round) => round.load.refused_ms.p50),
    refusedP99: middle((round) => round.load.refused_ms.p99),
    refusedMax: middle((round) => round.load.refused_ms.max),
    answeredP99: middle((round) => round.load.latency_ms.p99),
    failures: sum(all.map((round) => round.load.failed)),
    rssMax: Math.max(...all.map((round) => round.rssMax)),
    rssGrowth: middle((round) => round.rssGrowth),
    lateP99: middle((round) => round.load.late_ms.p99),
  };
});
printTable(
  [
    'arrivals',
    'capacity/s',
    'goodput',
    'refused',
    'refusal p50 ms',
    'p99 ms',
    'max ms',
    'answered p99 ms',
    'other failures',
    'RSS max',
    'generator late p99 ms',
  ],
  summary.map((each) => [
    `×${each.factor}`,
    short(each.capacity),
    percent(each.share),
    percent(each.refused),
    short(each.refusedP50),
    short(each.refusedP99),
    short(each.refusedMax),
    short(each.answeredP99),
    each.failures,
    mebibytes(each.rssMax),
    short(each.lateP99),
  ]),
);
console.log(`RSS of the gateway before: ${mebibytes(rssIdle)}\n`);

const bars = summary.flatMap(({ factor, share, refusedP99, rssMax, rssGrowth }): Bar[] => [
  { what: `goodput at ×${factor}`, bar: '≥ 95 % of capacity', figure: percent(share), met: share >= 0.95 },
  {
    what: `time of refusals at ×${factor}, p99`,
    bar: '< 10 ms',
    figure: `${short(refusedP99)} ms`,
    met: refusedP99 < 10,
  },
  {
    what: `gateway memory at ×${factor}, second half against first`,
    bar: 'bounded: ≤ 1.1×',
    figure: `${rssGrowth.toFixed(2)}×, at most ${mebibytes(rssMax)}`,
    met: rssGrowth <= 1.1,
  },
]);
conclude('overload', options, about, bars, { rssIdle, summary, rounds });
