// The preload's cost for a light request: CPU time of the worker process, with and without the preload, in turns.
//
//   npx tsx bench/preload.ts [--quick] [--runs N] [--requests N] [--only trivial,express]
//
// No gateway is there: this program writes what the gateway writes, one request at a time over one kept connection, the same bytes to
// each process. `sampled` is what a worker gets whose classes are light: of 16 requests, one is measured. `each` has every request
// measured, as those of new classes are. SLUICE_TEST_NODE names another Node.js for the processes. Rounds are short and many,
// because a machine's pace drifts; a figure is the median of the rounds' differences. Every core is kept awake meanwhile by a loop of the
// lowest priority: else the kernel's wake-up of a core that sleeps counts for whoever is woken, and was up to twice what the preload adds.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readOptions } from './lib/options.ts';
import { type Bar, conclude, describe, median, printTable } from './lib/report.ts';
import { keepCoresAwake, serveInTurns, startWorker, type Worker } from './lib/workers.ts';

const ADDED_US_MAX = 8;
const APPS = { trivial: '/', express: '/api/items/17' };
const SIDES = ['plain', 'sampled', 'each'] as const;
const SAMPLE = 16;
const WARM_UP = 4_000;

type App = keyof typeof APPS;
type Side = (typeof SIDES)[number];
type Figures = Record<Side, number>;

const options = readOptions({ runs: 60, runsQuick: 6, workers: 1, numbers: { requests: [1_000, 300] } });
const { requests = 0 } = options.numbers;
const node = process.env['SLUICE_TEST_NODE'] ?? process.execPath;
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-light-'));
process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }));
keepCoresAwake();
const about = describe(`What the preload adds to ${node}`, options);
const rounds: Partial<Record<App, Figures[]>> = {};
for (const app of Object.keys(APPS) as App[])
  if (options.only.length === 0 || options.only.includes(app)) rounds[app] = await compare(app);
printTable(
  ['app', ...SIDES.map((side) => `${side}, µs`), 'sampled adds, µs', 'each adds, µs', 'sampled / plain'],
  Object.entries(rounds).map(([app, figures]) => [
    app,
    ...SIDES.map((side) => median(figures.map((figure) => figure[side])).toFixed(1)),
    added(figures, 'sampled').toFixed(1),
    added(figures, 'each').toFixed(1),
    median(figures.map(({ sampled, plain }) => sampled / plain)).toFixed(3),
  ]),
);
conclude('preload', options, about, bars(), { node, rounds });

async function compare(app: App): Promise<Figures[]> {
  const workers = await Promise.all(SIDES.map((side) => start(app, side)));
  try {
    for (const worker of workers) await worker.serve(WARM_UP);
    return await serveInTurns(SIDES, workers, options.runs, requests);
  } finally {
    for (const worker of workers) worker.stop();
  }
}

function start(app: App, side: Side): Promise<Worker> {
  return startWorker({
    node,
    command: [path.join(import.meta.dirname, 'apps/light.cjs'), app],
    socketPath: path.join(dir, `${app}-${side}.sock`),
    hasPreload: side !== 'plain',
    target: APPS[app],
    label: () => (side === 'sampled' ? `;weight=${Math.random() < 1 / SAMPLE ? SAMPLE : 0}` : ''),
  });
}

function added(figures: Figures[], side: Side): number {
  return median(figures.map((figure) => figure[side] - figure.plain));
}

function bars(): Bar[] {
  return Object.entries(rounds).map(([app, figures]) => {
    const added_us = added(figures, 'sampled');
    return {
      what: `${app}: CPU time that the preload adds to a request of a light class`,
      bar: `≤ ${ADDED_US_MAX} µs`,
      figure: `${added_us.toFixed(1)} µs`,
      met: added_us <= ADDED_US_MAX,
    };
  });
}
