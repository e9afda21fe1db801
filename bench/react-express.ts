// `react = "fast"` in an Express app that renders by `renderToString`, one request at a time: CPU time of the worker process for a
// request, by react-dom and by `@sluice/react`, in turns.
//
//   npx tsx bench/react-express.ts [--quick] [--runs N] [--requests N] [--processes N] [--only 18-small,19-small,19-large]
//
// Each side has several processes, one after the other: what the compiler makes of a page differs from one to the next.
// No gateway is there, as in `bench/preload.ts`; both sides have the preload. `same` is a second worker with react-dom, which shows how much
// two equal processes differ. The answers of all three are compared first. SLUICE_TEST_NODE names another Node.js.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readOptions } from './lib/options.ts';
import { type Bar, conclude, describe, median, printTable } from './lib/report.ts';
import { keepCoresAwake, serveInTurns, startWorker } from './lib/workers.ts';
import { installIfStale } from '../tests/conformance/prepare.ts';
import { ownRuntime } from '../tests/conformance/runtime.ts';

const PAGES = ['small', 'middle', 'large'] as const;
const SIDES = ['stock', 'fast', 'same'] as const;
/** Requests before the first round: the optimizing compiler has to have seen the page. */
const WARM_UP = { small: 6_000, middle: 3_000, large: 1_200 };

/** Part by which two equal workers may differ on a machine that is quiet enough. */
const NOISE_MAX = 0.03;

type Side = (typeof SIDES)[number];
type Figures = Record<Side, number>;

const options = readOptions({
  runs: 30,
  runsQuick: 4,
  workers: 1,
  numbers: { requests: [300, 100], processes: [3, 1] },
});
const { requests = 0, processes = 1 } = options.numbers;
const node = process.env['SLUICE_TEST_NODE'] ?? process.execPath;
const root = path.join(import.meta.dirname, '..');
const react18 = path.join(root, 'packages/browser/test/react18');
await installIfStale(react18, ownRuntime.bin);
const folders = { 18: react18, 19: root };
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-react-'));
process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }));
keepCoresAwake();
const about = describe(`React in Express on ${node}`, options);
const rounds: Record<string, Figures[]> = {};
for (const [react, folder] of Object.entries(folders))
  for (const page of PAGES) {
    const name = `${react}-${page}`;
    if (options.only.length > 0 && !options.only.includes(name)) continue;
    const found: Figures[] = [];
    for (let at = 0; at < processes; at += 1) found.push(...(await compare(`${name}-${at}`, page, folder)));
    rounds[name] = found;
  }
const ratio = (figures: Figures[], side: Side): number =>
  median(figures.map((figure) => figure[side] / figure.stock));
printTable(
  ['React, page', ...SIDES.map((side) => `${side}, µs`), 'fast / stock', 'same / stock'],
  Object.entries(rounds).map(([name, figures]) => [
    name,
    ...SIDES.map((side) => median(figures.map((figure) => figure[side])).toFixed(0)),
    ratio(figures, 'fast').toFixed(3),
    ratio(figures, 'same').toFixed(3),
  ]),
);
conclude('react-express', options, about, bars(), { node, rounds });

async function compare(name: string, page: (typeof PAGES)[number], folder: string): Promise<Figures[]> {
  const command = [path.join(import.meta.dirname, 'apps/react-express.cjs'), page, folder];
  const workers = await Promise.all(
    SIDES.map((side) =>
      startWorker({
        node,
        command,
        socketPath: path.join(dir, `${name}-${side}.sock`),
        env: { NODE_ENV: 'production', ...(side === 'fast' && { SLUICE_REACT: 'fast' }) },
        hasPreload: true,
        target: '/',
      }),
    ),
  );
  try {
    for (const worker of workers) await worker.serve(options.quick ? 500 : WARM_UP[page]);
    const bodies = workers.map((worker) => worker.body());
    assert.ok((bodies[0]?.length ?? 0) > 500);
    assert.deepEqual(
      bodies.map((body) => body === bodies[0]),
      SIDES.map(() => true),
      'the sides answer differently',
    );
    return await serveInTurns(SIDES, workers, options.runs, requests);
  } finally {
    for (const worker of workers) worker.stop();
  }
}

const isQuiet = (figures: Figures[]): boolean => Math.abs(ratio(figures, 'same') - 1) <= NOISE_MAX;

function bars(): Bar[] {
  return Object.entries(rounds).map(([name, figures]) => ({
    what: `${name}: CPU time of a request with \`react = "fast"\`, of that with react-dom`,
    bar: '≤ 1',
    figure: isQuiet(figures)
      ? ratio(figures, 'fast').toFixed(3)
      : `${ratio(figures, 'fast').toFixed(3)}, but two equal workers differ by more than ${NOISE_MAX * 100} %`,
    met: isQuiet(figures) && ratio(figures, 'fast') <= 1,
  }));
}
