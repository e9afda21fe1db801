// One in, one out, counted: a million requests with aborts, client timeouts and worker timeouts mixed in, through workers
// that must never hold two.
//
//   npx tsx bench/overlap.ts [--quick] [--workers N] [--requests N] [--connections N]
//
// Three count independently: the app (`tests/support/apps/overlap.js`), from the start of its handler until its work is done
// and its response ended; the preload, and the gateway, whose counts `sluice status --json` and the metrics give. Every
// answer must also carry back the number its request was sent with. First the same load goes to a plain Node process, where
// the app's counter has to find overlaps: a counter that finds none anywhere proves nothing.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { app } from '../tests/support/sluice.ts';
import { type LoadResult, type Route, buildGenerator, load } from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { type Bar, conclude, describe, printTable, sum } from './lib/report.ts';
import { startDirect, startSluiceServer } from './lib/servers.ts';

const WORKER_TIMEOUT_MS = 100;
const ROUTES: Route[] = [
  { class: 'trivial', path: '/', weight: 930 },
  { class: 'spin', path: '/spin?ms=1', weight: 30 },
  { class: 'sleep', path: '/sleep?ms=4', weight: 20 },
  { class: 'stream', path: '/stream?chunks=3&bytes=2000&interval_ms=1', weight: 8 },
  { class: 'upload', path: '/upload', method: 'POST', body_bytes: 20_000, weight: 10 },
  { class: 'big', path: '/big?bytes=300000', weight: 2 },
  // Beyond the worker timeout: the client gets 504 while the worker still works, and its slot must not be freed.
  { class: 'too-long', path: '/sleep?ms=250', weight: 0.15 },
];

interface AppCounts {
  pid: number;
  requests: number;
  overlaps: number;
  held_max: number;
}

const options = readOptions({
  runs: 1,
  runsQuick: 1,
  workers: cores,
  numbers: { requests: [1_000_000, 20_000], connections: [20, 20] },
});
const { requests = 0, connections = 0 } = options.numbers;
buildGenerator();
const about = describe('Overlaps', options);
console.log(
  `${requests} requests over ${connections} connections; 4 % given up after 0 to 10 ms, half of those with a reset.\n`,
);

const control = await plainNode();
console.log(
  `Without a front: ${control.overlaps} overlaps in ${control.requests} requests, so the app's counter works.\n`,
);
if (control.overlaps === 0) throw new Error('the app counted no overlap where there must be many');

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-overlap-'));
const server = await startSluiceServer(
  { entry: app('overlap.js'), workers: options.workers, env: { OVERLAP_DIR: dir } },
  {
    env: {
      SLUICE_WORKERS_CONCURRENCY: '1',
      SLUICE_RESPONSE_WORKER_TIMEOUT_MS: String(WORKER_TIMEOUT_MS),
    },
  },
);
const results: LoadResult[] = [];
let reported: {
  overlaps_total: number;
  handed_total: number;
  taken_back_total: number;
  metrics: Record<string, number>;
};
try {
  const portions = Math.ceil(requests / 100_000);
  for (let portion = 0; portion < portions; portion++) {
    results.push(await load(plan(server.targets, Math.ceil(requests / portions), portion + 1)));
    const last = results.at(-1);
    console.log(
      `${sum(results.map(({ sent }) => sent))} sent; last: ${last?.ok} answered, ${last?.aborted} given up,` +
        ` ${JSON.stringify(last?.errors)} ${JSON.stringify(last?.statuses)}, ${last?.elapsed_s.toFixed(1)} s`,
    );
  }
  // The workers' last reports are at most a second old.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const status = await server.sluice.status();
  reported = {
    overlaps_total: status.overlaps_total,
    handed_total: status.requests.handed_total,
    taken_back_total: status.requests.taken_back_total,
    metrics: await overlapMetrics(),
  };
} finally {
  await server.stop();
}
const seen = readCounts(dir);
fs.rmSync(dir, { recursive: true, force: true });

const count = (kind: string) => sum(results.map(({ errors }) => errors[kind] ?? 0));
const statuses: Record<string, number> = {};
for (const result of results) {
  for (const [status, times] of Object.entries(result.statuses))
    statuses[status] = (statuses[status] ?? 0) + times;
}
const sent = sum(results.map((result) => result.sent));
console.log('');
printTable(
  [
    'sent',
    'answered',
    'given up',
    '504',
    'client timeouts',
    'other failures',
    'reached the app',
    'answers mixed up',
  ],
  [
    [
      sent,
      sum(results.map(({ ok }) => ok)),
      sum(results.map(({ aborted }) => aborted)),
      statuses['504'] ?? 0,
      count('timeout'),
      sum(results.map(({ failed, refused }) => failed + refused)) - (statuses['504'] ?? 0) - count('timeout'),
      sum(seen.map((each) => each.requests)),
      count('mixed_up'),
    ],
  ],
);

const appOverlaps = sum(seen.map(({ overlaps }) => overlaps));
const metricsOverlaps = sum(Object.values(reported.metrics));
const bars: Bar[] = [
  {
    what: 'overlaps seen by the app',
    bar: '0',
    figure: `${appOverlaps} in ${sum(seen.map((each) => each.requests))} requests of ${seen.length} processes`,
    met: appOverlaps === 0 && seen.length > 0 && sent >= requests,
  },
  {
    what: 'overlaps reported by preload and gateway (status)',
    bar: '0',
    figure: String(reported.overlaps_total),
    met: reported.overlaps_total === 0,
  },
  {
    what: 'overlaps in the metrics',
    bar: '0',
    figure: `${metricsOverlaps} (${Object.keys(reported.metrics).join(', ') || 'no such metric'})`,
    met: metricsOverlaps === 0 && Object.keys(reported.metrics).length > 0,
  },
  {
    what: 'cheap requests handed to a worker that had another',
    bar: '> 0',
    figure: `${reported.handed_total}, of which ${reported.taken_back_total} were taken back`,
    met: reported.handed_total > 0,
  },
  {
    what: 'answers that belong to another request',
    bar: '0',
    figure: String(count('mixed_up')),
    met: count('mixed_up') === 0,
  },
];
conclude('overlap', options, about, bars, { control, seen, reported, statuses, results });

function plan(targets: string[], portion: number, seed: number) {
  return {
    targets,
    routes: ROUTES,
    seed,
    check_echo: true,
    timeout_ms: 150,
    abort: { fraction: 0.04, after_ms_min: 0, after_ms_max: 10, reset_fraction: 0.5 },
    mode: { kind: 'closed' as const, connections, requests: portion },
  };
}

/** The same load on one plain Node process. */
async function plainNode(): Promise<AppCounts> {
  const dirPlain = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-overlap-'));
  const plain = await startDirect({ entry: app('overlap.js'), workers: 1, env: { OVERLAP_DIR: dirPlain } });
  try {
    await load(plan(plain.targets, 5_000, 1));
    await new Promise((resolve) => setTimeout(resolve, 600));
  } finally {
    await plain.stop();
  }
  const [counts] = readCounts(dirPlain);
  fs.rmSync(dirPlain, { recursive: true, force: true });
  if (counts === undefined) throw new Error('the app left no counts');
  return counts;
}

function readCounts(from: string): AppCounts[] {
  return fs
    .readdirSync(from)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(fs.readFileSync(path.join(from, name), 'utf8')) as AppCounts);
}

/** Every metric whose name speaks of overlaps. */
async function overlapMetrics(): Promise<Record<string, number>> {
  const text = await (await fetch(`${server.sluice.admin}/metrics`)).text();
  const lines = text.split('\n').filter((line) => /^sluice_\w*overlap/.test(line));
  return Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}
