// One request that never ends. The same open loop before and during it; when its worker is gone, what the log says of it,
// and the p99 of the others. Each run takes as long as `--requests` (10,000, as in the matrix) do, or `--seconds` halved, and
// long enough for the kill. The load has to fit into the workers that are left, and into the cores beside one that loops.
import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../../tests/support/eventually.ts';
import { type LoadResult, load, startLoad } from '../lib/load.ts';
import type { Options } from '../lib/options.ts';
import { cpuMeter } from '../lib/processes.ts';
import { type Bar, printTable, short } from '../lib/report.ts';
import { askForLoop, heal, workersOf } from './inject.ts';
import { capacityOf } from './kills.ts';
import { mixedRoutes } from './matrix.ts';
import { startFaultSluice } from './peers.ts';

/** `workers.stuck_after_ms` as it comes. */
const STUCK_AFTER_MS = 10_000;
const GRACE_MS = 1_000;
const GONE_MS_MAX = 30_000;
/** Until the kill and a little more. */
const SECONDS_MIN = 14;
/** Of the capacity; `--load` outweighs it. */
const SHARE = 30;
/** In `bench/apps/faults.cjs`. */
const FUNCTION = 'turnForever';

export async function loop(options: Options): Promise<{ bars: Bar[]; data: unknown }> {
  const ms = options.numbers['ms'] ?? 5;
  const isGiven = (flag: string): boolean =>
    process.argv.some((argument) => argument === flag || argument.startsWith(`${flag}=`));
  const share = (isGiven('--load') ? (options.numbers['load'] ?? SHARE) : SHARE) / 100;
  const server = await startFaultSluice(options.workers);
  let normal: LoadResult;
  let during: LoadResult;
  let gone_ms: number | undefined;
  let told: string | undefined;
  try {
    await heal(server);
    const rate = share * (await capacityOf(server, ms, 5));
    const wanted = isGiven('--seconds')
      ? (options.numbers['seconds'] ?? 60) / 2
      : (options.numbers['requests'] ?? 10_000) / rate;
    const seconds = Math.max(SECONDS_MIN, Math.ceil(wanted));
    console.log(
      `${rate.toFixed(0)} requests a second: ${share * 100} % of the capacity, ${seconds} s each.\n`,
    );
    const plan = {
      targets: server.targets,
      routes: mixedRoutes(ms),
      resend: false,
      mode: {
        kind: 'open' as const,
        rate_per_s: rate,
        duration_ms: seconds * 1_000,
        requests_max: Math.ceil(rate * seconds * 2),
      },
    };
    normal = await load(plan);
    const running = startLoad(plan);
    await wait(1_000);
    const workers = workersOf(server.mark);
    const used = cpuMeter(workers.map(({ pid }) => pid));
    const begun = performance.now();
    const request = askForLoop(server);
    await wait(2_000);
    const seconds_used = used();
    const busiest = seconds_used.indexOf(Math.max(...seconds_used));
    const stuck = workers[busiest]?.pid;
    const isGone = (): boolean => workersOf(server.mark).every(({ pid }) => pid !== stuck);
    gone_ms = await eventually(() => (isGone() ? performance.now() - begun : false), {
      deadlineMs: GONE_MS_MAX,
      what: 'the end of the worker that loops',
    }).catch(() => undefined);
    during = await running.result;
    request.destroy();
    told = server.sluice.logs.map((line) => JSON.stringify(line)).find((line) => line.includes(FUNCTION));
  } finally {
    await server.stop();
  }
  const ratio = (during.latency_ms.p99 ?? Number.NaN) / (normal.latency_ms.p99 ?? Number.NaN);
  printTable(
    ['', 'sent', 'failed', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms'],
    [['normal', normal] as const, ['one worker loops', during] as const].map(
      ([name, { sent, failed, refused, latency_ms }]) => [
        name,
        sent,
        failed + refused,
        short(latency_ms.p50),
        short(latency_ms.p95),
        short(latency_ms.p99),
        short(latency_ms.max),
      ],
    ),
  );
  console.log(`The log: ${told ?? 'names no function'}\n`);
  const namesPlace = told !== undefined && /faults\.cjs\D+\d+/.test(told);
  return {
    bars: [
      {
        what: 'the log names function, file and line',
        bar: 'yes',
        figure: namesPlace ? 'yes' : 'no',
        met: namesPlace,
      },
      {
        what: 'killed after the loop began',
        bar: `≤ ${STUCK_AFTER_MS + GRACE_MS} ms`,
        figure: gone_ms === undefined ? `not within ${GONE_MS_MAX} ms` : `${gone_ms.toFixed(0)} ms`,
        met: gone_ms !== undefined && gone_ms <= STUCK_AFTER_MS + GRACE_MS,
      },
      {
        what: 'p99 of the others against normal',
        bar: '≤ 1.2×',
        figure: `${ratio.toFixed(2)}×`,
        met: ratio <= 1.2,
      },
      {
        what: 'failures of the others',
        bar: '0',
        figure: String(during.failed + during.refused),
        met: during.failed + during.refused === 0,
      },
    ],
    data: { normal, during, gone_ms, told },
  };
}
