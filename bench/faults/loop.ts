// One request that never ends. The same open loop before and during it; when its worker is gone, what the log says of it,
// and the p99 of the others. Each run takes as long as `--requests` (10,000, as in the matrix) do, or `--seconds` halved, and
// long enough for the kill. The load has to fit into the workers that are left, and into the cores beside one that loops.
import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../../tests/support/eventually.ts';
import { type LoadResult, type Plan, load, startLoad } from '../lib/load.ts';
import type { Options } from '../lib/options.ts';
import { cpuMeter } from '../lib/processes.ts';
import { type Bar, median, printTable, short } from '../lib/report.ts';
import { askForLoop, heal, workersOf } from './inject.ts';
import { capacityOf } from './kills.ts';
import { type FaultSluice, startFaultSluice } from './peers.ts';
import { mixedRoutes } from './routes.ts';

/** `workers.stuck_after_ms` as it comes. */
const STUCK_AFTER_MS = 10_000;
const GRACE_MS = 1_000;
const GONE_MS_MAX = 30_000;
/** Duration until the kill and a little more. */
const SECONDS_MIN = 14;
/** Share of the capacity; `--load` overrides it. */
const SHARE = 30;
/** Name of the looping function in `bench/apps/faults.cjs`. */
const FUNCTION = 'turnForever';

interface Round {
  normal: LoadResult;
  during: LoadResult;
  /** Time from the looping request until its worker had gone; undefined if the worker never went. */
  gone_ms: number | undefined;
}

export async function loop(options: Options): Promise<{ bars: Bar[]; data: unknown }> {
  const ms = options.numbers['ms'] ?? 5;
  const isGiven = (flag: string): boolean =>
    process.argv.some((argument) => argument === flag || argument.startsWith(`${flag}=`));
  const share = (isGiven('--load') ? (options.numbers['load'] ?? SHARE) : SHARE) / 100;
  const server = await startFaultSluice(options.workers);
  const rounds: Round[] = [];
  let told: string | undefined;
  try {
    await heal(server);
    const rate = share * (await capacityOf(server, ms, 5));
    const wanted = isGiven('--seconds')
      ? (options.numbers['seconds'] ?? 60) / 2
      : (options.numbers['requests'] ?? 10_000) / rate;
    const seconds = Math.max(SECONDS_MIN, Math.ceil(wanted));
    console.log(
      `${rate.toFixed(0)} requests a second: ${share * 100} % of the capacity, ${seconds} s each, ${options.runs} times.\n`,
    );
    const plan: Plan = {
      targets: server.targets,
      routes: mixedRoutes(ms),
      resend: false,
      mode: {
        kind: 'open',
        rate_per_s: rate,
        duration_ms: seconds * 1_000,
        requests_max: Math.ceil(rate * seconds * 2),
      },
    };
    for (let run = 0; run < options.runs; run += 1) {
      const normal = await load(plan);
      rounds.push({ normal, ...(await withLoop(server, plan)) });
      await heal(server);
    }
    told = server.sluice.logs.map((line) => JSON.stringify(line)).find((line) => line.includes(FUNCTION));
  } finally {
    await server.stop();
  }
  report(rounds);
  console.log(`The log: ${told ?? 'names no function'}\n`);
  return { bars: barsOf(rounds, told), data: { rounds, told } };
}

/** The same load, with one request that never ends from its first second on. */
async function withLoop(server: FaultSluice, plan: Plan): Promise<Omit<Round, 'normal'>> {
  const running = startLoad(plan);
  await wait(1_000);
  const workers = workersOf(server.mark);
  const used = cpuMeter(workers.map(({ pid }) => pid));
  const begun = performance.now();
  const request = askForLoop(server);
  await wait(2_000);
  const seconds_used = used();
  const stuck = workers[seconds_used.indexOf(Math.max(...seconds_used))]?.pid;
  const isGone = (): boolean => workersOf(server.mark).every(({ pid }) => pid !== stuck);
  const gone_ms = await eventually(() => (isGone() ? performance.now() - begun : false), {
    deadlineMs: GONE_MS_MAX,
    what: 'the end of the worker that loops',
  }).catch(() => undefined);
  const during = await running.result;
  request.destroy();
  return { during, gone_ms };
}

function report(rounds: Round[]): void {
  const row = (name: string, { sent, failed, refused, latency_ms }: LoadResult): (string | number)[] => [
    name,
    sent,
    failed + refused,
    short(latency_ms.p50),
    short(latency_ms.p95),
    short(latency_ms.p99),
    short(latency_ms.max),
  ];
  printTable(
    ['', 'sent', 'failed', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms'],
    rounds.flatMap(({ normal, during }) => [row('normal', normal), row('one worker loops', during)]),
  );
}

function barsOf(rounds: Round[], told: string | undefined): Bar[] {
  const namesPlace = told !== undefined && /faults\.cjs\D+\d+/.test(told);
  const gone_ms = Math.max(...rounds.map((round) => round.gone_ms ?? Number.POSITIVE_INFINITY));
  const p99 = (result: LoadResult): number => result.latency_ms.p99 ?? Number.NaN;
  const ratio = median(rounds.map(({ normal, during }) => p99(during) / p99(normal)));
  const failures = rounds.reduce((sum, { during }) => sum + during.failed + during.refused, 0);
  return [
    {
      what: 'the log names function, file and line',
      bar: 'yes',
      figure: namesPlace ? 'yes' : 'no',
      met: namesPlace,
    },
    {
      what: 'killed after the loop began, at most',
      bar: `≤ ${STUCK_AFTER_MS + GRACE_MS} ms`,
      figure: Number.isFinite(gone_ms) ? `${gone_ms.toFixed(0)} ms` : `not within ${GONE_MS_MAX} ms`,
      met: gone_ms <= STUCK_AFTER_MS + GRACE_MS,
    },
    {
      what: 'p99 of the others against normal, median of the rounds',
      bar: '≤ 1.2×',
      figure: `${ratio.toFixed(2)}×`,
      met: ratio <= 1.2,
    },
    {
      what: 'failures of the others',
      bar: '0',
      figure: String(failures),
      met: failures === 0,
    },
  ];
}
