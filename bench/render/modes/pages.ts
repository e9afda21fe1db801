// Pages per CPU second of everything, p95 at a rate that all can carry, and bytes of HTML, of the same page on four architectures.
import { gzipSync } from 'node:zlib';
import type { Options } from '../../lib/options.ts';
import { type Bar, median, printTable, short, sum } from '../../lib/report.ts';
import type { Server } from '../../lib/servers.ts';
import { latency, type Latency, throughput, type Throughput } from '../lib/measure.ts';
import { checkSame, fetchListing } from '../lib/same.ts';
import type { Peer } from '../lib/servers.ts';

const SEED_OF_WARM_UP = 99;
/** Share of the slowest server's throughput at which all are asked for latencies. */
const LOAD = 0.5;
const RATIOS_MIN: Record<string, number> = { express: 2, next: 3, 'worker-nodes': 2 };

/** Figures of one round, by server. */
interface Round {
  closed: ReadonlyMap<string, Throughput>;
  open: ReadonlyMap<string, Latency>;
}

export async function measurePages(
  options: Options,
  peers: Record<string, Peer>,
): Promise<{ bars: Bar[]; data: unknown }> {
  const { requests = 0, connections = 0, seconds = 0 } = options.numbers;
  for (const { name, footing } of Object.values(peers)) console.log(`- ${name}: ${footing}`);
  console.log('');
  const servers: [string, Server][] = [];
  const rounds: Round[] = [];
  const sizes = new Map<string, { html: number; gzip: number }>();
  let rate_per_s = 0;
  try {
    for (const [key, peer] of Object.entries(peers)) servers.push([key, await peer.start(options.workers)]);
    await checkSame(servers);
    for (const [key, server] of servers) sizes.set(key, await sizeOf(server));
    const warm = [];
    for (const [, server] of servers)
      warm.push(await throughput(server, { requests, connections, seed: SEED_OF_WARM_UP }));
    rate_per_s = LOAD * Math.min(...warm.map((each) => each.per_s));
    for (let round = 0; round < options.runs; round += 1) {
      const first = round % servers.length;
      const inOrder = [...servers.slice(first), ...servers.slice(0, first)];
      const seed = round + 1;
      // What is set against each other is measured within seconds: a shared machine is faster in one minute than in the next.
      const closed = new Map<string, Throughput>();
      for (const [key, server] of inOrder)
        closed.set(key, await throughput(server, { requests, connections, seed }));
      const open = new Map<string, Latency>();
      const plan = { rate_per_s, duration_ms: seconds * 1000, seed };
      for (const [key, server] of inOrder) open.set(key, await latency(server.targets, plan));
      rounds.push({ closed, open });
    }
  } finally {
    await Promise.all(servers.map(async ([, server]) => server.stop()));
  }

  const closed = (key: string, of: (figures: Throughput) => number): number[] =>
    rounds.map((round) => figureOf(round.closed.get(key), of));
  const open = (key: string, of: (figures: Latency) => number): number[] =>
    rounds.map((round) => figureOf(round.open.get(key), of));
  const perCpuS = (key: string): number[] => closed(key, ({ per_cpu_s }) => per_cpu_s);
  const ratio = (key: string): number =>
    median(perCpuS('sluice').map((own, round) => own / (perCpuS(key)[round] ?? Number.NaN)));
  console.log(`Latencies at ${short(rate_per_s)} pages a second, half of what the slowest gives.\n`);
  printTable(
    ['server', 'pages/CPU s', 'Sluice / it', 'pages/s', 'p50 ms', 'p95 ms', 'HTML bytes', 'gzip'],
    servers.map(([key]) => [
      peers[key]?.name ?? key,
      short(median(perCpuS(key))),
      short(ratio(key)),
      short(median(closed(key, ({ per_s }) => per_s))),
      short(median(open(key, ({ p50 }) => p50))),
      short(median(open(key, ({ p95 }) => p95))),
      sizes.get(key)?.html ?? '-',
      sizes.get(key)?.gzip ?? '-',
    ]),
  );
  const failures = sum(
    servers.flatMap(([key]) => [
      ...closed(key, ({ failures }) => failures),
      ...open(key, ({ failures }) => failures),
    ]),
  );
  const bars: Bar[] = Object.entries(RATIOS_MIN)
    .filter(([key]) => !Number.isNaN(ratio(key)))
    .map(([key, least]) => ({
      what: `pages per CPU second of all processes, against ${peers[key]?.name ?? key}`,
      bar: `≥ ${least}×`,
      figure: `${ratio(key).toFixed(2)}×`,
      met: ratio(key) >= least,
    }));
  bars.push({ what: 'failed requests', bar: '0', figure: String(failures), met: failures === 0 });
  return {
    bars,
    data: {
      rate_per_s,
      sizes: Object.fromEntries(sizes),
      rounds: rounds.map((round) => ({
        closed: Object.fromEntries(round.closed),
        open: Object.fromEntries(round.open),
      })),
    },
  };
}

function figureOf<T>(figures: T | undefined, of: (figures: T) => number): number {
  return figures === undefined ? Number.NaN : of(figures);
}

/** Medians over some pages. The browser's part of it is in another mode. */
async function sizeOf(server: Server): Promise<{ html: number; gzip: number }> {
  const pages = await Promise.all([0, 1, 2, 3, 4].map(async (page) => fetchListing(server, page)));
  return {
    html: median(pages.map((html) => Buffer.byteLength(html))),
    gzip: median(pages.map((html) => gzipSync(html).length)),
  };
}
