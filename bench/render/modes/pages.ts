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

interface Figures {
  closed: Throughput;
  open: Latency;
}

export async function measurePages(
  options: Options,
  peers: Record<string, Peer>,
): Promise<{ bars: Bar[]; data: unknown }> {
  const { requests = 0, connections = 0, seconds = 0 } = options.numbers;
  for (const { name, footing } of Object.values(peers)) console.log(`- ${name}: ${footing}`);
  console.log('');
  const servers: [string, Server][] = [];
  const rounds: Map<string, Figures>[] = [];
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
      const figures = new Map<string, Figures>();
      const first = round % servers.length;
      for (const [key, server] of [...servers.slice(first), ...servers.slice(0, first)]) {
        const seed = round + 1;
        const closed = await throughput(server, { requests, connections, seed });
        const plan = { rate_per_s, duration_ms: seconds * 1000, seed };
        figures.set(key, { closed, open: await latency(server.targets, plan) });
      }
      rounds.push(figures);
    }
  } finally {
    await Promise.all(servers.map(async ([, server]) => server.stop()));
  }

  const all = (key: string, of: (figures: Figures) => number): number[] =>
    rounds.map((round) => {
      const figures = round.get(key);
      return figures === undefined ? Number.NaN : of(figures);
    });
  const perCpuS = (key: string): number[] => all(key, ({ closed }) => closed.per_cpu_s);
  const ratio = (key: string): number =>
    median(perCpuS('sluice').map((own, round) => own / (perCpuS(key)[round] ?? Number.NaN)));
  console.log(`Latencies at ${short(rate_per_s)} pages a second, half of what the slowest gives.\n`);
  printTable(
    ['server', 'pages/CPU s', 'Sluice / it', 'pages/s', 'p50 ms', 'p95 ms', 'HTML bytes', 'gzip'],
    servers.map(([key]) => [
      peers[key]?.name ?? key,
      short(median(perCpuS(key))),
      short(ratio(key)),
      short(median(all(key, ({ closed }) => closed.per_s))),
      short(median(all(key, ({ open }) => open.p50))),
      short(median(all(key, ({ open }) => open.p95))),
      sizes.get(key)?.html ?? '-',
      sizes.get(key)?.gzip ?? '-',
    ]),
  );
  const failures = sum(
    servers.flatMap(([key]) => all(key, ({ closed, open }) => closed.failures + open.failures)),
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
      rounds: rounds.map((round) => Object.fromEntries(round)),
    },
  };
}

/** Medians over some pages. The browser's part of it is in another mode. */
async function sizeOf(server: Server): Promise<{ html: number; gzip: number }> {
  const pages = await Promise.all([0, 1, 2, 3, 4].map(async (page) => fetchListing(server, page)));
  return {
    html: median(pages.map((html) => Buffer.byteLength(html))),
    gzip: median(pages.map((html) => gzipSync(html).length)),
  };
}
