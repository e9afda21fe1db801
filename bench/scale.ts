// `sluice scale` under load: latency while further workers boot, against before, and requests that failed.
//
//   npx tsx bench/scale.ts [--quick] [--runs N] [--load PERCENT] [--to N]
//
// The load is a share of what the first workers can do, measured at first, and comes in an open loop: a request that waits does not keep
// the next from coming. The app takes a second of CPU to boot. "During" is from the command's start to its end.
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildGenerator, load, type Sample, startLoad } from './lib/load.ts';
import { readOptions } from './lib/options.ts';
import { type Bar, conclude, describe, median, printTable, short, sum } from './lib/report.ts';
import { startSluiceServer } from './lib/servers.ts';

const P99_RATIO_MAX = 2;
const WORK_MS = 5;
const BOOT_MS = 1_000;
const entry = fileURLToPath(new URL('./apps/boots.cjs', import.meta.url));

const options = readOptions({
  runs: 3,
  runsQuick: 1,
  workers: 2,
  numbers: { load: [80, 80], to: [8, 4], before_s: [10, 4] },
});
const { load: percent = 0, to = 0, before_s = 0 } = options.numbers;
const about = describe(`sluice scale ${options.workers} to ${to} at ${percent} % load`, options);
buildGenerator();

interface Figure {
  p50_before_ms: number;
  p99_before_ms: number;
  p50_during_ms: number;
  p99_during_ms: number;
  took_s: number;
  sent: number;
  failed: number;
}

/** The value below which this share of requests took, in milliseconds. */
function quantile(samples: Sample[], share: number): number {
  const sorted = samples.map(([, took_us]) => took_us / 1000).sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function run(round: number): Promise<Figure> {
  const env = { WORK_MS: String(WORK_MS), BOOT_MS: String(BOOT_MS) };
  const server = await startSluiceServer({ entry, workers: options.workers, env });
  try {
    const routes = [{ path: '/' }];
    const { targets } = server;
    const closed = { kind: 'closed', connections: options.workers * 2, requests: 400 } as const;
    const full = await load({ targets, routes, mode: closed });
    const rate = (full.ok / full.elapsed_s) * (percent / 100);
    const duration_ms = before_s * 1000 + 120_000;
    const requests_max = Math.ceil((rate * duration_ms) / 1000);
    const mode = { kind: 'open', rate_per_s: rate, duration_ms, requests_max } as const;
    const started = performance.now();
    const running = startLoad({ targets, routes, mode, samples: true, seed: round + 1, timeout_ms: 60_000 });
    await wait(before_s * 1000);
    const from_us = (performance.now() - started) * 1000;
    const { code, stderr } = await server.sluice.cli(['scale', String(to)]);
    const until_us = (performance.now() - started) * 1000;
    const result = await running.stop();
    if (code !== 0) throw new Error(`sluice scale ended with ${code}: ${stderr}`);
    const samples = Object.values(result.classes).flatMap(({ samples }) => samples ?? []);
    // The first second warms the workers up after the measurement of what they can do.
    const before = samples.filter(([at_us]) => at_us > 1_000_000 && at_us < from_us);
    const during = samples.filter(([at_us]) => at_us >= from_us && at_us < until_us);
    return {
      p50_before_ms: quantile(before, 0.5),
      p99_before_ms: quantile(before, 0.99),
      p50_during_ms: quantile(during, 0.5),
      p99_during_ms: quantile(during, 0.99),
      took_s: (until_us - from_us) / 1e6,
      sent: result.sent,
      failed: result.failed + result.refused,
    };
  } finally {
    await server.stop();
  }
}

const figures: Figure[] = [];
for (let round = 0; round < options.runs; round++) figures.push(await run(round));

const columns = [
  'round',
  'p50 before',
  'p50 during',
  'p99 before',
  'p99 during',
  'took s',
  'requests',
  'failed',
];
const rows = figures.map((figure, round) => [
  round + 1,
  short(figure.p50_before_ms),
  short(figure.p50_during_ms),
  short(figure.p99_before_ms),
  short(figure.p99_during_ms),
  short(figure.took_s),
  figure.sent,
  figure.failed,
]);
printTable(columns, rows);

const ratio = median(figures.map(({ p99_before_ms, p99_during_ms }) => p99_during_ms / p99_before_ms));
const failed = sum(figures.map((figure) => figure.failed));
const bars: Bar[] = [
  {
    what: 'p99 during over before, median',
    bar: `≤ ${P99_RATIO_MAX}`,
    figure: short(ratio),
    met: ratio <= P99_RATIO_MAX,
  },
  { what: 'requests that failed or were refused', bar: '0', figure: String(failed), met: failed === 0 },
];
conclude('scale', options, about, bars, { figures, ratio, failed });
