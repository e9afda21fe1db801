// The cost of a hit: pages of 2 and 20 KB, plain, compressed, over TLS and over HTTP/2, from all caches in turn.
import { cpuMeter } from '../lib/processes.ts';
import { type Bar, median, short, sum } from '../lib/report.ts';
import { h2load } from './h2load.ts';
import type { Cache } from './servers.ts';

const CONNECTIONS = 32;
const GZIP = ['accept-encoding: gzip'];

interface Way {
  name: string;
  isTls: boolean;
  http2: boolean;
  /** Further query of the page. */
  query: string;
  headers: string[];
}

const WAYS: Way[] = [
  { name: 'plain', isTls: false, http2: false, query: '', headers: [] },
  { name: 'compressed', isTls: false, http2: false, query: '&gzip=1', headers: GZIP },
  { name: 'TLS', isTls: true, http2: false, query: '', headers: [] },
  { name: 'HTTP/2', isTls: true, http2: true, query: '', headers: [] },
];
const SIZES = [2048, 20_480];

export interface Hits {
  way: string;
  bytes: number;
  server: string;
  round: number;
  perS: number;
  perCpuS: number;
  failed: number;
}

export async function measureHits(caches: Cache[], rounds: number, requests: number): Promise<Hits[]> {
  const measured: Hits[] = [];
  for (let round = -1; round < rounds; round++) {
    for (const way of WAYS) {
      for (const bytes of SIZES) {
        for (let at = 0; at < caches.length; at++) {
          const cache = caches[(at + round + 1) % caches.length];
          if (cache === undefined) continue;
          const url = `${way.isTls ? cache.tls : cache.plain}/page?bytes=${bytes}${way.query}`;
          const meter = cpuMeter(way.isTls ? cache.tlsPids() : cache.plainPids());
          const load = { url, connections: CONNECTIONS, http2: way.http2, headers: way.headers };
          // The round before the first fills the caches.
          const loaded = await h2load({ ...load, requests: round < 0 ? 500 : requests });
          const cpuS = sum(meter());
          if (round < 0) continue;
          measured.push({
            way: way.name,
            bytes,
            server: cache.name,
            round,
            perS: loaded.requests / loaded.seconds,
            perCpuS: loaded.requests / cpuS,
            failed: loaded.failed,
          });
        }
      }
    }
  }
  return measured;
}

export function hitRows(hits: Hits[], caches: Cache[]): (string | number)[][] {
  return cells().flatMap(([way, bytes]) =>
    caches.map(({ name }) => {
      const own = hits.filter((hit) => hit.way === way && hit.bytes === bytes && hit.server === name);
      return [
        way,
        bytes,
        name,
        sum(own.map(({ failed }) => failed)),
        short(median(own.map(({ perS }) => perS))),
        short(median(own.map(({ perCpuS }) => perCpuS))),
        short(median(own.map(({ perCpuS }) => 1e6 / perCpuS))),
      ];
    }),
  );
}

const cells = (): [string, number][] =>
  WAYS.flatMap(({ name }) => SIZES.map((bytes): [string, number] => [name, bytes]));

/** Medians of the rounds' ratios. */
export function hitBars(hits: Hits[], peers: string[]): Bar[] {
  return cells().flatMap(([way, bytes]) =>
    peers.flatMap((peer) => {
      const of = (server: string, round: number): number =>
        hits.find(
          (hit) => hit.way === way && hit.bytes === bytes && hit.server === server && hit.round === round,
        )?.perCpuS ?? Number.NaN;
      const rounds = [...new Set(hits.map(({ round }) => round))];
      const ratio = median(rounds.map((round) => of('Sluice', round) / of(peer, round)));
      if (Number.isNaN(ratio)) return [];
      const what = `hits per CPU second, ${way}, ${bytes / 1024} KB, to ${peer}`;
      return [{ what, bar: '≥ 1', figure: short(ratio), met: ratio >= 1 }];
    }),
  );
}
