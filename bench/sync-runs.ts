// The histogram of uninterrupted runs: what it costs the storefront, whether it counts what a full `async_hooks` run counts, and
// whether it grows.
//
//   npx tsx bench/sync-runs.ts [--quick] [--runs N] [--requests N] [--many N] [--only cost,counts,growth]
//
// Counts are those of the same worker in the same requests: `bench/apps/all-runs.cjs` is loaded beside the preload. Growth is the
// least heap in use of a worker over ten seconds of rest, after a tenth of the requests and after all of them.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { app } from '../tests/support/sluice.ts';
import { type Route, buildGenerator, load } from './lib/load.ts';
import { readOptions } from './lib/options.ts';
import { cpuMeter } from './lib/processes.ts';
import { type Bar, conclude, describe, median, percent, printTable, short, sum } from './lib/report.ts';
import { type SluiceServer, startSluiceServer } from './lib/servers.ts';
import { storefrontEntry, storefrontIsBuilt, storefrontRoutes } from './lib/storefront.ts';

const COST_MAX = 0.03;
const COUNTS_OFF_MAX = 0.05;
/** Largest change of the heap in a process that serves nothing. */
const GROWTH_BYTES_MAX = 1024 * 1024;
const CONNECTIONS = 8;
const CLASSES = ['1 to 10 ms', '10 to 100 ms', '100 ms to 1 s', 'above 1 s'];
/** Fewer runs say nothing of 5 %. */
const RUNS_MIN = 100;

const options = readOptions({
  runs: 40,
  runsQuick: 4,
  workers: 1,
  numbers: { requests: [400, 200], many: [1_000_000, 20_000] },
});
const { requests = 0, many = 0 } = options.numbers;
const isAsked = (part: string): boolean => options.only.length === 0 || options.only.includes(part);
if (!storefrontIsBuilt()) throw new Error('the storefront is not built: run `make build`');
buildGenerator();
const about = describe('Uninterrupted runs', options);
const rounds: { on: number; off: number }[] = [];
let counts: { ours: number[]; theirs: number[] } | undefined;
let heaps: { early: number; late: number } | undefined;
if (isAsked('cost')) await cost();
if (isAsked('counts')) await count();
if (isAsked('growth')) await grow();
conclude('sync-runs', options, about, bars(), { rounds, counts, heaps });

async function cost(): Promise<void> {
  const served = { entry: storefrontEntry, workers: options.workers };
  const [on, off] = [
    await startSluiceServer(served),
    await startSluiceServer(served, { env: { SLUICE_WATCHES_RUNS: '0' } }),
  ];
  try {
    const routes = await storefrontRoutes(on.targets[0] ?? '');
    for (const server of [on, off]) await perCpuSecond(server, routes, 99);
    for (let round = 0; round < options.runs; round += 1) {
      const figures = new Map<SluiceServer, number>();
      for (const server of round % 2 === 0 ? [on, off] : [off, on])
        figures.set(server, await perCpuSecond(server, routes, round + 1));
      rounds.push({ on: figures.get(on) ?? Number.NaN, off: figures.get(off) ?? Number.NaN });
    }
  } finally {
    await Promise.all([on.stop(), off.stop()]);
  }
}

async function perCpuSecond(server: SluiceServer, routes: Route[], seed: number): Promise<number> {
  const meter = cpuMeter(await server.workerPids());
  const mode = { kind: 'closed', connections: CONNECTIONS, requests } as const;
  const { ok, failed, refused } = await load({ targets: server.targets, routes, seed, mode });
  if (failed + refused > 0) throw new Error(`${failed + refused} requests failed`);
  return ok / sum(meter());
}

async function count(): Promise<void> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-runs-'));
  const file = path.join(dir, 'counts.json');
  const env = {
    // A second worker, for long requests, would have counts of its own.
    SLUICE_WORKERS_LANES: 'off',
    ALL_RUNS_FILE: file,
    NODE_OPTIONS: `--require ${path.join(import.meta.dirname, 'apps/all-runs.cjs')}`,
  };
  const server = await startSluiceServer({ entry: storefrontEntry, workers: 1 }, { env });
  try {
    const routes = await storefrontRoutes(server.targets[0] ?? '');
    const looked = async (): Promise<{ ours: number[]; theirs: number[] }> => {
      // Sums go out every ten seconds.
      await wait(11_000);
      const { runs } = await server.sluice.status();
      const [pid] = await server.workerPids();
      const theirs = JSON.parse(fs.readFileSync(`${file}.${pid}`, 'utf8')) as number[];
      return { ours: byClass(runs.upper_us, runs.counts), theirs };
    };
    const before = await looked();
    const mode = { kind: 'closed', connections: CONNECTIONS, requests: requests * 10 } as const;
    await load({ targets: server.targets, routes, seed: 1, mode });
    const after = await looked();
    const news = (of: 'ours' | 'theirs'): number[] =>
      after[of].map((runs, at) => runs - (before[of][at] ?? 0));
    counts = { ours: news('ours'), theirs: news('theirs') };
  } finally {
    await server.stop();
    fs.rmSync(dir, { recursive: true, force: true });
  }
  const { ours, theirs } = counts;
  printTable(
    ['runs', 'histogram', 'async_hooks', 'off by'],
    CLASSES.map((name, at) => [name, ours[at] ?? 0, theirs[at] ?? 0, percent(offBy(at) ?? 0)]),
  );
}

/** Runs of each class but the first, from counts by the upper bounds of their buckets. */
function byClass(upper_us: number[], counted: number[]): number[] {
  const sums = CLASSES.map(() => 0);
  counted.forEach((runs, bucket) => {
    const from_us = bucket === 0 ? 0 : (upper_us[bucket - 1] ?? 0);
    const at = Math.min(Math.floor(Math.log10(from_us / 1000)), CLASSES.length - 1);
    if (from_us >= 1000) sums[at] = (sums[at] ?? 0) + runs;
  });
  return sums;
}

function offBy(at: number): number | undefined {
  const [ours, theirs] = [counts?.ours[at] ?? 0, counts?.theirs[at] ?? 0];
  return theirs < RUNS_MIN ? undefined : Math.abs(ours / theirs - 1);
}

async function grow(): Promise<void> {
  const server = await startSluiceServer({ entry: app('trivial.js'), workers: 1 });
  const least = async (): Promise<number> => {
    const seen: number[] = [];
    for (let second = 0; second < 10; second += 1) {
      // What is garbage goes once there is more of it.
      await load({
        targets: server.targets,
        routes: [{ path: '/', weight: 1 }],
        seed: second,
        mode: { kind: 'closed', connections: 1, requests: 500 },
      });
      await wait(1_000);
      const { workers } = await server.sluice.status();
      seen.push(workers[0]?.heap_used_bytes ?? Number.NaN);
    }
    return Math.min(...seen);
  };
  const serve = (count: number): Promise<unknown> =>
    load({
      targets: server.targets,
      routes: [{ path: '/', weight: 1 }],
      seed: 1,
      mode: { kind: 'closed', connections: CONNECTIONS, requests: count },
    });
  try {
    await serve(Math.round(many / 10));
    const early = await least();
    await serve(many - Math.round(many / 10));
    heaps = { early, late: await least() };
  } finally {
    await server.stop();
  }
}

function bars(): Bar[] {
  const found: Bar[] = [];
  if (rounds.length > 0) {
    const figure = 1 - median(rounds.map(({ on, off }) => on / off));
    printTable(
      ['storefront', 'on, req/CPU s', 'off, req/CPU s', 'on / off'],
      rounds.map(({ on, off }, at) => [`round ${at + 1}`, short(on), short(off), (on / off).toFixed(3)]),
    );
    found.push({
      what: 'requests per CPU second of the worker that the histogram costs the storefront',
      bar: `≤ ${percent(COST_MAX)}`,
      figure: percent(figure),
      met: figure <= COST_MAX,
    });
  }
  if (counts !== undefined) {
    const off = CLASSES.flatMap((_, at) => offBy(at) ?? []);
    const most = Math.max(0, ...off);
    found.push({
      what: `counts against a full async_hooks run, in classes of ${RUNS_MIN} runs and more (${off.length})`,
      bar: `≤ ${percent(COUNTS_OFF_MAX)}`,
      figure: percent(most),
      met: off.length > 0 && most <= COUNTS_OFF_MAX,
    });
  }
  if (heaps !== undefined) {
    const growth = heaps.late - heaps.early;
    found.push({
      what: `growth of a worker's heap in ${many} requests`,
      bar: `≤ ${GROWTH_BYTES_MAX / 1024} KiB`,
      figure: `${Math.round(growth / 1024)} KiB`,
      met: growth <= GROWTH_BYTES_MAX,
    });
  }
  return found;
}
