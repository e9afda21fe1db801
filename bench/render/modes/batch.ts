// Batches of 60 jobs per CPU second of all processes, against Hypernova with the same components.
import assert from 'node:assert/strict';
import { installFromNpm, versionIn } from '../../lib/npm.ts';
import type { Options } from '../../lib/options.ts';
import { type Bar, median, printTable, short, sum } from '../../lib/report.ts';
import { type Server, startDirect, startSluiceServer } from '../../lib/servers.ts';
import type { Route } from '../../lib/load.ts';
import { built } from '../lib/build.ts';
import { throughput, type Throughput } from '../lib/measure.ts';
import { listing } from '../shop/data.ts';

const SEED_OF_WARM_UP = 99;
const RATIO_MIN = 3;
/** Listings that batches are made of, in turn. */
const BATCHES = 16;

interface Job {
  name: string;
  data: object;
}
interface BatchResult {
  success: boolean;
  results: Record<string, { html: string; success: boolean }>;
}

export async function measureBatches(options: Options): Promise<{ bars: Bar[]; data: unknown }> {
  const { requests = 0, connections = 0 } = options.numbers;
  const dir = installFromNpm('hypernova', ['hypernova@2.5.0'], 'hypernova/package.json');
  const entry = built('batch.mjs');
  const routes = Array.from({ length: BATCHES }, (_, page) => routeOf(jobsOf(page)));
  const servers: [string, Server][] = [];
  const rounds: Map<string, Throughput>[] = [];
  const count = Math.ceil(requests / 4);
  try {
    servers.push([
      'Sluice',
      await startSluiceServer({ entry, workers: options.workers }, { env: { LIBRARY: 'sluice' } }),
    ]);
    const env = { NODE_ENV: 'production', LIBRARY: dir };
    servers.push(['Hypernova', await startDirect({ entry, workers: options.workers, env })]);
    await checkSame(servers);
    for (const [, server] of servers)
      await throughput(server, { requests: count, connections, seed: SEED_OF_WARM_UP }, routes);
    for (let round = 0; round < options.runs; round += 1) {
      const figures = new Map<string, Throughput>();
      for (const [name, server] of round % 2 === 0 ? servers : servers.toReversed())
        figures.set(
          name,
          await throughput(server, { requests: count, connections, seed: round + 1 }, routes),
        );
      rounds.push(figures);
    }
  } finally {
    await Promise.all(servers.map(async ([, server]) => server.stop()));
  }
  const all = (name: string, read: (figures: Throughput) => number): number[] =>
    rounds.map((round) => {
      const figures = round.get(name);
      return figures === undefined ? Number.NaN : read(figures);
    });
  const perCpuS = (name: string): number[] => all(name, ({ per_cpu_s }) => per_cpu_s);
  const ratio = median(
    perCpuS('Sluice').map((own, round) => own / (perCpuS('Hypernova')[round] ?? Number.NaN)),
  );
  printTable(
    ['server', 'batches/CPU s', 'batches/s'],
    servers.map(([name]) => [
      name === 'Hypernova' ? `Hypernova ${versionIn(dir, 'hypernova')}` : name,
      short(median(perCpuS(name))),
      short(median(all(name, ({ per_s }) => per_s))),
    ]),
  );
  const failures = sum(servers.flatMap(([name]) => all(name, ({ failures }) => failures)));
  return {
    bars: [
      {
        what: 'batches of 60 jobs per CPU second of all processes, against Hypernova',
        bar: `≥ ${RATIO_MIN}×`,
        figure: `${ratio.toFixed(2)}×`,
        met: ratio >= RATIO_MIN,
      },
      { what: 'failed requests', bar: '0', figure: String(failures), met: failures === 0 },
    ],
    data: { rounds: rounds.map((round) => Object.fromEntries(round)) },
  };
}

function jobsOf(page: number): Job[] {
  const data = listing(page);
  return [
    { name: 'Header', data: data.header },
    { name: 'Nav', data: data.nav },
    { name: 'Crumbs', data: data.crumbs },
    { name: 'Filters', data: data.filters },
    { name: 'Hero', data: data.hero },
    { name: 'Sort', data: data.sort },
    ...data.promos.map((promo) => ({ name: 'Promo', data: promo })),
    ...data.cards.map((card) => ({ name: 'Card', data: card })),
    { name: 'Pages', data: data.pages },
    { name: 'Footer', data: data.footer },
  ];
}

const bodyOf = (jobs: Job[]): string =>
  JSON.stringify(Object.fromEntries(jobs.map((job, at) => [`job${at}`, job])));

const routeOf = (jobs: Job[]): Route => ({
  path: '/batch',
  method: 'POST',
  headers: [['content-type', 'application/json']],
  body: bodyOf(jobs),
});

/** Throws unless all servers give the same HTML, but for the ids that each makes up. */
async function checkSame(servers: [string, Server][]): Promise<void> {
  const body = bodyOf(jobsOf(3));
  const answers = await Promise.all(
    servers.map(async ([name, { targets }]) => {
      const response = await fetch(`http://${targets[0] ?? ''}/batch`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      const answer = (await response.json()) as BatchResult;
      assert.ok(answer.success, `${name}: the batch failed`);
      return Object.entries(answer.results).map(([job, { html, success }]) => {
        assert.ok(success, `${name}: ${job} failed`);
        return [
          job,
          html.replaceAll(/hypernova-id="[^"]*"/gi, '').replaceAll(/(id|for|aria-\w+)="[^"]*"/g, ''),
        ];
      });
    }),
  );
  const [first, ...others] = answers;
  for (const other of others) assert.deepEqual(other, first);
}
