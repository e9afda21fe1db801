// A page that nobody has asked for before, and then 1,000 clients at once: renders, and how much later than the first one the others
// have their first byte.
import { load } from '../lib/load.ts';
import { type Bar, median, short } from '../lib/report.ts';
import type { Cache } from './servers.ts';

export interface Burst {
  server: string;
  round: number;
  renders: number;
  answered: number;
  /** Delays behind the first arrival: median, 99 of 100, and the last, milliseconds. */
  half: number;
  most: number;
  last: number;
}

const CLIENTS = 1000;

export async function measureBursts(caches: Cache[], rounds: number): Promise<Burst[]> {
  const measured: Burst[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const cache of caches) {
      const before = cache.renders();
      const { extra } = await load({
        targets: [cache.plain.replace('http://', '')],
        routes: [{ path: `/slow?ms=300&round=${round}` }],
        mode: { kind: 'burst', connections: CLIENTS },
      });
      const times = extra.first_byte_ms ?? [];
      const after = (share: number): number =>
        (times[Math.ceil(times.length * share) - 1] ?? Number.NaN) - (times[0] ?? Number.NaN);
      measured.push({
        server: cache.name,
        round,
        renders: cache.renders() - before,
        answered: times.length,
        half: after(0.5),
        most: after(0.99),
        last: after(1),
      });
    }
  }
  return measured;
}

export function burstRows(bursts: Burst[]): (string | number)[][] {
  return [...new Set(bursts.map(({ server }) => server))].map((server) => {
    const own = bursts.filter((burst) => burst.server === server);
    const of = (figure: (burst: Burst) => number): string => short(median(own.map(figure)));
    return [
      server,
      CLIENTS,
      Math.min(...own.map(({ answered }) => answered)),
      Math.max(...own.map(({ renders }) => renders)),
      of(({ half }) => half),
      of(({ most }) => most),
      of(({ last }) => last),
    ];
  });
}

export function burstBars(bursts: Burst[]): Bar[] {
  const own = bursts.filter(({ server }) => server === 'Sluice');
  if (own.length === 0) return [];
  const [renders, last] = [
    Math.max(...own.map((burst) => burst.renders)),
    median(own.map((burst) => burst.last)),
  ];
  const half = median(own.map((burst) => burst.half));
  return [
    {
      what: '1,000 misses of one page at once: renders',
      bar: '1',
      figure: String(renders),
      met: renders === 1,
    },
    {
      what: 'first byte of half of them after the first one’s, ms',
      bar: '≤ 5',
      figure: short(half),
      met: half <= 5,
    },
    {
      what: 'first byte of the last one after the first one’s, ms',
      bar: '≤ 5',
      figure: short(last),
      met: last <= 5,
    },
  ];
}
