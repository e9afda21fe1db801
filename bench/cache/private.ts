// Pages that five requests a second are answered alone of: by a first cookie, a page for one visitor, a redirect or an error. How often the app
// renders them, which is for each of those and for as few as can be of the others.
import http from 'node:http';
import { type Bar, short } from '../lib/report.ts';
import type { Cache } from './servers.ts';

const PAGES = 5;
/** Requests a second for each page. */
const ALONE = 5;
const OTHERS = 15;
/**
 * Freshness of a page, seconds: it is rendered anew many times, and the client that triggers a render may get a private
 * answer.
 */
const AGE = 10;
const WARM_UPS = 200;
const KINDS = ['cookie', 'private', 'moved', 'missing'];

export interface PrivateRun {
  server: string;
  requests: number;
  alone: number;
  renders: number;
  failures: number;
}

interface Planned {
  atMs: number;
  page: number;
  kind: string | null;
}

/** The same for all: both sorts of requests evenly, and not in step. */
function plan(seconds: number): Planned[] {
  const planned: Planned[] = [];
  for (let page = 0; page < PAGES; page++) {
    const offset = page * 13;
    for (let at = 0; at < seconds * ALONE; at++)
      planned.push({ atMs: offset + (at * 1000) / ALONE, page, kind: KINDS[at % KINDS.length] ?? null });
    for (let at = 0; at < seconds * OTHERS; at++)
      planned.push({ atMs: offset + 7 + (at * 1000) / OTHERS, page, kind: null });
  }
  return planned.sort((one, other) => one.atMs - other.atMs);
}

export async function measurePrivate(caches: Cache[], seconds: number): Promise<PrivateRun[]> {
  const runs: PrivateRun[] = [];
  for (const cache of caches) {
    const planned = plan(seconds);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
    // Other pages first, so that the app is as fast as it will be.
    for (let at = 0; at < WARM_UPS; at++) await get(agent, `${cache.plain}/visit?page=warm-${at}`, null);
    const [before, began] = [cache.renders(), performance.now()];
    let failures = 0;
    const asked = planned.map(async ({ atMs, page, kind }) => {
      await new Promise((resolve) => setTimeout(resolve, atMs - (performance.now() - began)));
      const status = await get(agent, `${cache.plain}/visit?age=${AGE}&page=${page}`, kind);
      // Requests that find the page cached get the cached copy.
      if (![200, 302, 404].includes(status) || (kind === null && status !== 200)) failures += 1;
    });
    await Promise.all(asked);
    agent.destroy();
    runs.push({
      server: cache.name,
      requests: planned.length,
      alone: planned.filter(({ kind }) => kind !== null).length,
      renders: cache.renders() - before,
      failures,
    });
  }
  return runs;
}

async function get(agent: http.Agent, url: string, kind: string | null): Promise<number> {
  return new Promise((resolve) => {
    http
      .get(url, { agent, headers: kind === null ? {} : { 'x-visit': kind } }, (answer) => {
        answer.resume().once('end', () => {
          resolve(answer.statusCode ?? 0);
        });
      })
      .once('error', () => {
        resolve(0);
      });
  });
}

export function privateRows(runs: PrivateRun[]): (string | number)[][] {
  return runs.map(({ server, requests, alone, failures, renders }) => [
    server,
    requests,
    alone,
    failures,
    renders,
  ]);
}

export function privateBars(runs: PrivateRun[]): Bar[] {
  const of = (name: string): number | undefined => runs.find(({ server }) => server === name)?.renders;
  const [own, varnish] = [of('Sluice'), of('Varnish')];
  if (own === undefined || varnish === undefined) return [];
  return [
    {
      what: 'renders of pages that 5 requests a second are answered alone of, to Varnish',
      bar: '≤ 1.2×',
      figure: `${own} to ${varnish}, ${short(own / varnish)}×`,
      met: own <= 1.2 * varnish,
    },
  ];
}
