// `sluice plan` against measurements: an app runs under open load, its own log is planned, and the plan's percentiles are held against those
// that the log says.
//
//   npx tsx bench/plan.ts [--quick] [--runs N] [--seconds N] [--loads 50,70,90] [--only shop-1,shop-2,asleep-1,asleep-2,asleep-3]
//
// The plan assumes that each worker has a core of its own. Generator and gateway need one too, so the shop runs with fewer workers than there are
// cores unless `--only` says otherwise. An app that sleeps where others compute needs no core: with it 2 and 3 workers are busy at once on any
// machine. Its sleep is CPU time in the log that is planned. Arrivals are Poisson, at parts of the rate that a closed loop reaches. The
// first tenth of the time is in neither figure.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Sluice, startSluice } from '../tests/support/sluice.ts';
import { eventually } from '../tests/support/eventually.ts';
import { type Route, buildGenerator, load } from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { type Bar, conclude, describe, median, printTable, short } from './lib/report.ts';
import { temporaryDir } from './lib/run.ts';
import { storefrontEntry, storefrontIsBuilt, storefrontRoutes } from './lib/storefront.ts';

const RATIO_MAX = 1.15;
const PERCENTILES = ['p50', 'p95', 'p99'] as const;

interface Case {
  readonly app: 'shop' | 'asleep';
  readonly workers: number;
}

/** Fields of the log that count here. */
interface Access {
  event: string;
  time: string;
  queue_ms: number | null;
  service_ms: number | null;
  cpu_ms: number | null;
}

interface Plan {
  rows: { workers: number; lanes: boolean; traffic: number; load: number; all: { ms: number[] } | null }[];
}

interface Figures {
  name: string;
  load: number;
  /** Load as the plan finds it in the log. */
  planned_load: number;
  requests: number;
  measured_ms: number[];
  planned_ms: number[] | null;
}

const options = readOptions({
  runs: 3,
  runsQuick: 1,
  workers: 1,
  numbers: { seconds: [120, 6] },
  lists: ['loads'],
});
const cases: Record<string, Case> = {
  'shop-1': { app: 'shop', workers: 1 },
  'shop-2': { app: 'shop', workers: 2 },
  'shop-3': { app: 'shop', workers: 3 },
  'asleep-1': { app: 'asleep', workers: 1 },
  'asleep-2': { app: 'asleep', workers: 2 },
  'asleep-3': { app: 'asleep', workers: 3 },
};
const fits = ({ app, workers }: Case): boolean => app === 'asleep' || workers < cores;
const chosen = Object.entries(cases).filter(([name, each]) =>
  options.only.length > 0 ? options.only.includes(name) : fits(each),
);
const loads = options.lists['loads'] ?? [];
const { seconds = 0 } = options.numbers;
if (!storefrontIsBuilt()) throw new Error('the storefront is not built: run `make build`');
buildGenerator();
const about = describe('Plans against measurements', options);
const left = Object.entries(cases).filter(([name]) => !chosen.some(([other]) => other === name));
if (options.only.length === 0 && left.length > 0)
  console.log(`Left out, because ${cores} cores are too few: ${left.map(([name]) => name).join(', ')}.\n`);

const figures: Figures[] = [];
for (let round = 0; round < options.runs; round += 1) {
  for (const [name, each] of chosen) await measure(name, each, round);
}
const rows = figures.flatMap(({ name, load: part, planned_load, requests, measured_ms, planned_ms }) => [
  [
    name,
    `${part} %`,
    `${Math.round(planned_load * 100)} %`,
    requests,
    measured_ms.map((ms) => short(ms)).join(' / '),
    planned_ms?.map((ms) => short(ms)).join(' / ') ?? 'overload',
    PERCENTILES.map((_, at) => ratio(measured_ms[at], planned_ms?.[at]).toFixed(2)).join(' / '),
  ],
]);
printTable(
  ['app and workers', 'load', 'by the log', 'requests', 'measured, ms', 'planned, ms', 'planned / measured'],
  rows,
);
conclude('plan', options, about, bars(), { figures });

async function measure(name: string, { app, workers }: Case, round: number): Promise<void> {
  const isShop = app === 'shop';
  const sluice = await startSluice({
    entry: isShop ? storefrontEntry : fileURLToPath(new URL('apps/asleep.cjs', import.meta.url)),
    workers,
    // One that sleeps seems to wait, and would get more requests.
    flags: isShop ? [] : ['--concurrency', '1'],
    config: isShop ? '' : '[workers]\nlanes = "off"\n',
    env: { NODE_ENV: 'production' },
  });
  try {
    const target = `127.0.0.1:${sluice.port}`;
    const routes = isShop ? await storefrontRoutes(target) : asleep();
    const connections = workers * 4;
    const closed = (duration_ms_max: number): ReturnType<typeof load> =>
      load({
        targets: [target],
        routes,
        seed: 7,
        mode: { kind: 'closed', connections, requests: 1_000_000, duration_ms_max },
      });
    await closed(Math.min(10_000, seconds * 500));
    const { ok, elapsed_s } = await closed(Math.min(20_000, seconds * 500));
    for (const part of loads.length > 0 ? loads : [50, 70, 90]) {
      const from = fs.statSync(logOf(sluice)).size;
      await load({
        targets: [target],
        routes,
        seed: round + 1,
        mode: {
          kind: 'open',
          rate_per_s: (ok / elapsed_s) * (part / 100),
          duration_ms: seconds * 1_000,
          requests_max: 1_000_000,
        },
      });
      await quiet(sluice);
      figures.push({ name, load: part, ...compare(linesOf(sluice, from), workers, isShop) });
    }
  } finally {
    await sluice.stop();
    fs.rmSync(sluice.dir, { recursive: true, force: true });
  }
}

/** Paths of the app that sleeps, with a tail. */
function asleep(): Route[] {
  const weights: [ms: number, weight: number][] = [
    [5, 40],
    [10, 30],
    [20, 20],
    [60, 8],
    [150, 2],
  ];
  return weights.map(([ms, weight]) => ({ class: `${ms} ms`, path: `/${ms}`, weight }));
}

function logOf(sluice: Sluice): string {
  return path.join(sluice.dir, 'stdout');
}

/** Waits until every request is in the log: workers report a little later. */
async function quiet(sluice: Sluice): Promise<void> {
  let before = -1;
  await eventually(
    () => {
      const { size } = fs.statSync(logOf(sluice));
      const isQuiet = size === before;
      before = size;
      return isQuiet;
    },
    { deadlineMs: 60_000, pauseMs: 2_000, what: 'the last line of the log' },
  );
}

function linesOf(sluice: Sluice, from: number): Access[] {
  const text = fs.readFileSync(logOf(sluice)).subarray(from).toString();
  const lines = text.split('\n').filter((line) => line.includes('"access"'));
  return lines.map((line) => JSON.parse(line) as Access).filter(({ event }) => event === 'access');
}

/** Plans the log, and takes the same percentiles from it. */
function compare(lines: readonly Access[], workers: number, isShop: boolean): Omit<Figures, 'name' | 'load'> {
  const file = path.join(temporaryDir('slu-plan-'), 'access.log');
  const told = isShop ? lines : lines.map((line) => ({ ...line, cpu_ms: line.service_ms }));
  fs.writeFileSync(file, told.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const binary =
    process.env['SLUICE_BINARY'] ??
    fileURLToPath(new URL('../packages/sluice/bin/sluice.js', import.meta.url));
  const [program, ...before] = binary.endsWith('.js') ? [process.execPath, binary] : [binary];
  const args = ['plan', file, '--workers', `${workers}..${workers}`, '--traffic', '1', '--json'];
  const { status, stdout, stderr } = spawnSync(program ?? binary, [...before, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`sluice plan: ${stderr}`);
  const { rows } = JSON.parse(stdout) as Plan;
  const row = rows.find((each) => each.workers === workers && each.lanes === isShop);
  if (row === undefined) throw new Error(`sluice plan has no row for ${workers} workers`);
  const times = lines.map(({ time }) => Date.parse(time));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const counted = lines.filter((_, at) => (times[at] ?? 0) >= first + (last - first) / 10);
  const served = counted.flatMap(({ queue_ms, service_ms }) =>
    service_ms === null ? [] : [(queue_ms ?? 0) + service_ms],
  );
  served.sort((one, other) => one - other);
  const at = (share: number): number => served[Math.ceil(served.length * share) - 1] ?? Number.NaN;
  return {
    requests: served.length,
    planned_load: row.load,
    measured_ms: [at(0.5), at(0.95), at(0.99)],
    planned_ms: row.all?.ms ?? null,
  };
}

function ratio(measured = Number.NaN, planned = Number.NaN): number {
  return planned / measured;
}

/** A bar for each percentile of each app: the median over rounds, for each load, which is farthest from the measured one. */
function bars(): Bar[] {
  return chosen.flatMap(([name]) =>
    PERCENTILES.map((percentile, at) => {
      const own = figures.filter((each) => each.name === name);
      const parts = [...new Set(own.map((each) => each.load))];
      const ratios = parts.map((part) =>
        median(
          own
            .filter((each) => each.load === part)
            .map(({ measured_ms, planned_ms }) => ratio(measured_ms[at], planned_ms?.[at])),
        ),
      );
      const off = ratios.map((each) =>
        Number.isFinite(each) ? Math.max(each, 1 / each) : Number.POSITIVE_INFINITY,
      );
      const worst = Math.max(...off);
      return {
        what: `${name}, ${percentile}: planned / measured at ${parts.join(', ')} % load`,
        bar: `within ${Math.round((RATIO_MAX - 1) * 100)} %`,
        figure: ratios.map((each) => each.toFixed(2)).join(', '),
        met: worst <= RATIO_MAX,
      };
    }),
  );
}
