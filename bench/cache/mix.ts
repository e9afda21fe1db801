// Pages by Zipf's law, and a cache that holds a tenth of them: the share of hits, beside the best that any cache could have, which
// knows what will be asked for (Belady).
import { type Bar, percent } from '../lib/report.ts';
import http from 'node:http';
import type { Cache } from './servers.ts';

export const PAGES = 2000;
export const PAGE_BYTES = 10_240;
/** Bytes of the pages' bodies; each cache adds its own overhead to them. */
export const MIX_BYTES = (PAGES * PAGE_BYTES) / 10;
const EXPONENT = 0.9;
const LANES = 4;

export interface Mix {
  server: string;
  requests: number;
  hits: number;
}

/** The same sequence for all. */
export function zipf(requests: number, seed: number): number[] {
  const weights = Array.from({ length: PAGES }, (_, at) => 1 / (at + 1) ** EXPONENT);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const ends: number[] = [];
  let end = 0;
  for (const weight of weights) ends.push((end += weight / total));
  let state = seed;
  const random = (): number => {
    // xorshift32.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return Array.from({ length: requests }, () => {
    const at = random();
    let [low, high] = [0, PAGES - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 1) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  });
}

/** Hits of a cache for so many pages that drops, or does not take in, the page that is asked for last of all. */
export function belady(sequence: number[], places: number): number {
  const next: number[] = [];
  const seen = new Map<number, number>();
  for (let at = sequence.length - 1; at >= 0; at--) {
    const page = sequence[at] ?? 0;
    next[at] = seen.get(page) ?? Infinity;
    seen.set(page, at);
  }
  const kept = new Map<number, number>();
  let hits = 0;
  for (const [at, page] of sequence.entries()) {
    if (kept.has(page)) hits += 1;
    kept.set(page, next[at] ?? Infinity);
    if (kept.size > places) {
      let [furthest, until] = [-1, -1];
      for (const [other, used] of kept) if (used > until) [furthest, until] = [other, used];
      kept.delete(furthest);
    }
  }
  return hits;
}

export async function measureMix(caches: Cache[], requests: number): Promise<Mix[]> {
  const sequence = zipf(requests, 20_250_101);
  const mixes: Mix[] = [{ server: 'Belady', requests, hits: belady(sequence, PAGES / 10) }];
  for (const cache of caches) {
    const before = cache.renders();
    const agent = new http.Agent({ keepAlive: true, maxSockets: LANES });
    let at = 0;
    const lane = async (): Promise<void> => {
      for (let own = at++; own < sequence.length; own = at++) {
        await get(agent, `${cache.plain}/page?bytes=${PAGE_BYTES}&id=${sequence[own] ?? 0}`);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    agent.destroy();
    mixes.push({ server: cache.name, requests, hits: requests - (cache.renders() - before) });
  }
  return mixes;
}

async function get(agent: http.Agent, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    http
      .get(url, { agent }, (answer) => {
        answer.resume().once('end', resolve);
      })
      .once('error', reject);
  });
}

export function mixRows(mixes: Mix[]): (string | number)[][] {
  return mixes.map(({ server, requests, hits }) => [server, requests, percent(hits / requests)]);
}

export function mixBars(mixes: Mix[]): Bar[] {
  const of = (name: string): number | undefined => mixes.find(({ server }) => server === name)?.hits;
  const [own, varnish] = [of('Sluice'), of('Varnish')];
  if (own === undefined || varnish === undefined) return [];
  const requests = mixes[0]?.requests ?? 1;
  const figure = `${percent(own / requests)} to ${percent(varnish / requests)}`;
  return [{ what: 'hits of a Zipf mix, a tenth kept, to Varnish', bar: '≥', figure, met: own >= varnish }];
}
