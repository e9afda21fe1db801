// How long hits take while something else goes on: renders on all cores, and clients that open TLS connections.
import { type LoadResult, load, startLoad } from '../lib/load.ts';
import { type Bar, median, short } from '../lib/report.ts';
import { startH2load } from './h2load.ts';
import type { Cache } from './servers.ts';

const HITS_PER_S = 500;
const HANDSHAKES_PER_S = 200;

export interface Calm {
  meanwhile: string;
  round: number;
  p50: number;
  p99: number;
  failed: number;
  /** Delay of the generator's own sends, 99 of 100, milliseconds. */
  late: number;
}

export async function measureCalm(cache: Cache, rounds: number, seconds: number): Promise<Calm[]> {
  const measured: Calm[] = [];
  const [plain, tls] = [cache.plain, cache.tls];
  const target = (url: string): string => url.replace(/^https?:\/\//, '');
  const hits = async (): Promise<LoadResult> =>
    load({
      targets: [target(plain)],
      routes: [{ path: '/page?bytes=2048' }],
      mode: { kind: 'open', rate_per_s: HITS_PER_S, duration_ms: seconds * 1000, requests_max: 1_000_000 },
    });
  const note = (meanwhile: string, round: number, result: LoadResult): void => {
    const { latency_ms: times, failed, late_ms: late } = result;
    const of = (time: number | undefined): number => time ?? Number.NaN;
    measured.push({ meanwhile, round, p50: of(times.p50), p99: of(times.p99), failed, late: of(late.p99) });
  };
  await hits();
  for (let round = 0; round < rounds; round++) {
    note('nothing', round, await hits());
    const renders = startLoad({
      targets: [target(plain)],
      routes: [{ path: '/render?ms=5' }],
      mode: { kind: 'closed', connections: 16, requests: 10_000_000, duration_ms_max: seconds * 1000 + 2000 },
    });
    note('renders on all cores', round, await hits());
    await renders.stop();
    const connections = HANDSHAKES_PER_S * (seconds + 2);
    const handshakes = startH2load({
      url: `${tls}/page?bytes=2048`,
      requests: connections,
      connections,
      connectionsPerS: HANDSHAKES_PER_S,
    });
    note(`${HANDSHAKES_PER_S} new TLS connections a second`, round, await hits());
    await handshakes.result;
  }
  return measured;
}

const kinds = (calms: Calm[]): string[] => [...new Set(calms.map(({ meanwhile }) => meanwhile))];

export function calmRows(calms: Calm[]): (string | number)[][] {
  return kinds(calms).map((meanwhile) => {
    const own = calms.filter((calm) => calm.meanwhile === meanwhile);
    const of = (figure: (calm: Calm) => number): string => short(median(own.map(figure)));
    return [
      meanwhile,
      HITS_PER_S,
      of(({ failed }) => failed),
      of(({ p50 }) => p50),
      of(({ p99 }) => p99),
      of(({ late }) => late),
    ];
  });
}

export function calmBars(calms: Calm[]): Bar[] {
  return kinds(calms)
    .filter((meanwhile) => meanwhile !== 'nothing')
    .map((meanwhile) => {
      const p99 = median(calms.filter((calm) => calm.meanwhile === meanwhile).map((calm) => calm.p99));
      return { what: `p99 of hits, ${meanwhile}, ms`, bar: '≤ 5', figure: short(p99), met: p99 <= 5 };
    });
}
