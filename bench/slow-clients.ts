// Thousands of clients that drip their headers, drip their bodies or sip the answer, while others want to be served.
//
//   npx tsx bench/slow-clients.ts [--quick] [--runs N] [--workers N] [--slow N] [--ratePerWorker N] [--seconds N] [--ms N]
//
// The others are an open loop with the same seed with and without the slow ones, in turn; the figure is the median over the
// rounds of p99 with over p99 without. Slots held: requests in service for longer than any of them takes to
// render, looked at every 50 ms while only slow clients are connected. A third of them sends a byte of a header per second, a third a body of 1 MB at 600 bytes per second (just above
// the least rate that is allowed, so nothing throws them out), a third reads 256 KiB at a KiB per second.
import { app } from '../tests/support/sluice.ts';
import {
  type LoadResult,
  type SlowGroup,
  type SlowGroupResult,
  buildGenerator,
  load,
  startLoad,
} from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { memory } from './lib/processes.ts';
import { conclude, describe, mebibytes, median, printTable, short, sum } from './lib/report.ts';
import { sample } from './lib/sample.ts';
import { startSluiceServer } from './lib/servers.ts';

/** No request of a slow client takes a worker this long; one that waited for its client would take seconds. */
const RENDER_MS_MAX = 250;

interface Round {
  without: LoadResult;
  with: LoadResult;
  slow: SlowGroupResult[];
  slotsHeldMax: number;
  slotLooks: number;
  rssMax: number;
}

const options = readOptions({
  runs: 5,
  runsQuick: 1,
  workers: Math.max(1, cores - 1),
  numbers: { slow: [5_000, 1_500], ratePerWorker: [80, 80], seconds: [20, 4], ms: [5, 5] },
});
const { slow = 0, ratePerWorker = 0, seconds = 0, ms = 0 } = options.numbers;
const rate = ratePerWorker * options.workers;
buildGenerator();
const about = describe('Slow clients', options);
console.log(
  `${slow} slow clients; the others: ${rate} requests a second of ${ms} ms of CPU each, for ${seconds} s.\n`,
);

const third = Math.ceil(slow / 3);
const groups: SlowGroup[] = [
  { slow: 'headers', connections: third, interval_ms: 1000, bytes: 1, path: '/' },
  { slow: 'body', connections: third, interval_ms: 1000, bytes: 600, path: '/upload', body_bytes: 1_000_000 },
  {
    slow: 'read',
    connections: slow - 2 * third,
    interval_ms: 1000,
    bytes: 1024,
    path: `/big?bytes=${256 * 1024}`,
  },
];
const server = await startSluiceServer({ entry: app('spin.js'), workers: options.workers });
const rounds: Round[] = [];
try {
  await others(0, 2);
  for (let round = 0; round < options.runs; round++) rounds.push(await withAndWithout(round));
} finally {
  await server.stop();
}

async function withAndWithout(round: number): Promise<Round> {
  const without = await others(round, seconds);
  const rss = sample(() => memory(server.gatewayPid).rssBytes, 200);
  const crowd = startLoad({
    targets: server.targets,
    mode: { kind: 'slow', groups, connections_per_s: 1000, duration_ms_max: 600_000 },
  });
  await crowd.ready;
  const slots = sample(async () => {
    const { workers } = await server.sluice.status();
    return workers.flatMap((worker) => worker.current).filter(({ for_ms }) => for_ms > RENDER_MS_MAX).length;
  }, 50);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await slots.stop();
  const withSlow = await others(round, seconds);
  const { extra } = await crowd.stop();
  await rss.stop();
  return {
    without,
    with: withSlow,
    slow: extra.groups ?? [],
    slotsHeldMax: Math.max(...slots.samples.map(({ value }) => value)),
    slotLooks: slots.samples.length,
    rssMax: Math.max(...rss.samples.map(({ value }) => value)),
  };
}

async function others(round: number, forSeconds: number): Promise<LoadResult> {
  return load({
    targets: server.targets,
    routes: [{ path: `/spin?ms=${ms}` }],
    seed: round + 1,
    mode: {
      kind: 'open',
      rate_per_s: rate,
      duration_ms: forSeconds * 1000,
      requests_max: Math.ceil(rate * forSeconds * 2),
    },
  });
}

const figureOf = (which: 'with' | 'without', figure: 'p50' | 'p95' | 'p99') =>
  median(rounds.map((round) => round[which].latency_ms[figure] ?? Number.NaN));
printTable(
  ['slow clients', 'p50 ms', 'p95 ms', 'p99 ms', 'failures of the others'],
  (['without', 'with'] as const).map((which) => [
    which,
    short(figureOf(which, 'p50')),
    short(figureOf(which, 'p95')),
    short(figureOf(which, 'p99')),
    sum(rounds.map((round) => round[which].failed + round[which].refused)),
  ]),
);
printTable(
  ['slow in', 'wanted', 'open at the end', 'opened', 'closed by the server', 'answered with'],
  (rounds.at(-1)?.slow ?? []).map((group) => [
    group.slow,
    group.connections,
    group.open_at_end,
    group.opened,
    group.closed_by_server,
    JSON.stringify(group.statuses),
  ]),
);
console.log(`RSS of the gateway, largest: ${mebibytes(Math.max(...rounds.map((round) => round.rssMax)))}\n`);

const ratio = median(
  rounds.map(
    (round) => (round.with.latency_ms.p99 ?? Number.NaN) / (round.without.latency_ms.p99 ?? Number.NaN),
  ),
);
const slotsHeld = Math.max(...rounds.map((round) => round.slotsHeldMax));
const looks = sum(rounds.map((round) => round.slotLooks));
conclude(
  'slow-clients',
  options,
  about,
  [
    {
      what: `p99 of the others with ${slow} slow clients`,
      bar: '≤ 1.1×',
      figure: `${ratio.toFixed(2)}×`,
      met: ratio <= 1.1,
    },
    {
      what: 'worker slots held by slow clients',
      bar: '0',
      figure: `${slotsHeld} (largest of ${looks} looks)`,
      met: slotsHeld === 0 && looks > 0,
    },
  ],
  { rounds },
);
