// React for screens on engines that only interpret: time from a key to its last command, time of the first screen, memory, bytes.
//
//   npx tsx bench/screens.ts [--quick] [--runs N] [--only screens,react-reconciler,…]
//
// All have the same screen of 300 widgets and write the same commands into a buffer. In each round each of them runs once on each engine, in a
// process of its own. `screens` is the view as it is written for React, `screens-compiled` the same after @sluice/compiler, and `screens-areas` the
// view as one writes it for @sluice/screens, where focus is declared. Figures are medians over the rounds. Memory is taken in processes of their own, with all garbage freed.
import fs from 'node:fs';
import path from 'node:path';
import { installIfStale } from '../tests/conformance/prepare.ts';
import { ownRuntime } from '../tests/conformance/runtime.ts';
import { readOptions } from './lib/options.ts';
import { type Bar, conclude, describe, median, printTable } from './lib/report.ts';
import { build, type Bundle, RECIPES } from './screens/build.ts';
import { engines, type Memory, run, type Run } from './screens/engines.ts';

const KEY_RATIO_MIN = 4;
const KEY_RATIO_SOLID_MAX = 1.2;
const MOUNT_RATIO_MIN = 2.5;
/** Mounts at the start of a process that do not count: the engine's caches are empty. */
const WARM_UP = 3;

interface Figures {
  readonly mount: number;
  readonly p50: number;
  readonly p95: number;
  readonly memory: Memory;
}

const options = readOptions({ runs: 7, runsQuick: 1, workers: 1 });
await installIfStale(`${import.meta.dirname}/screens`, ownRuntime.bin);
const about = describe('React for screens', options);
const names = Object.keys(RECIPES).filter((name) => options.only.length === 0 || options.only.includes(name));
fs.mkdirSync(path.join(import.meta.dirname, 'screens/.build'), { recursive: true });
const bundles = new Map<string, Bundle>();
for (const name of names) bundles.set(name, await build(name));

const bars: Bar[] = [];
const data: Record<string, unknown> = {};
for (const engine of engines()) {
  const taken = new Map<string, Figures[]>(names.map((name) => [name, []]));
  const batches = new Map<string, Run>();
  for (let round = 0; round < options.runs; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const result = run<Run>(engine, bundles.get(name)?.script ?? '');
      batches.set(name, result);
      const memory = run<Memory>(engine, bundles.get(name)?.memory ?? '');
      taken.get(name)?.push(figures(result, memory));
    }
  }
  const of = (name: string, key: 'mount' | 'p50' | 'p95'): number =>
    median((taken.get(name) ?? []).map((one) => one[key]));
  const heapOf = (name: string, key: keyof Memory): string => {
    const values = (taken.get(name) ?? []).flatMap(({ memory }) => memory[key]?.bytes ?? []);
    return values.length === 0 ? '–' : (median(values) / 1024).toFixed(0);
  };
  const objectsOf = (name: string): string => {
    const values = (taken.get(name) ?? []).flatMap(({ memory: { program, first } }) =>
      first?.objects === undefined ? [] : first.objects - (program?.objects ?? 0),
    );
    return values.length === 0 ? '–' : median(values).toFixed(0);
  };
  console.log(`${engine.name}\n`);
  printTable(
    [
      'what',
      'first screen ms',
      'key p50 ms',
      'key p95 ms',
      'words of first screen',
      'of a key',
      'gzip bytes',
      'heap of program KiB',
      'with first screen',
      'after 200 keys',
      'objects of screen',
    ],
    names.map((name) => [
      name,
      of(name, 'mount').toFixed(2),
      of(name, 'p50').toFixed(3),
      of(name, 'p95').toFixed(3),
      batches.get(name)?.words ?? 0,
      batches.get(name)?.keyWords ?? 0,
      bundles.get(name)?.gzipBytes ?? 0,
      heapOf(name, 'program'),
      heapOf(name, 'first'),
      heapOf(name, 'keys'),
      objectsOf(name),
    ]),
  );
  data[engine.name] = Object.fromEntries(taken);
  for (const own of ['screens-areas', 'screens-compiled'].filter((name) => names.includes(name))) {
    if (names.includes('react-reconciler')) {
      judge(
        `${engine.name}: key p95, react-reconciler to ${own}`,
        of('react-reconciler', 'p95') / of(own, 'p95'),
        KEY_RATIO_MIN,
        true,
      );
      judge(
        `${engine.name}: first screen, react-reconciler to ${own}`,
        of('react-reconciler', 'mount') / of(own, 'mount'),
        MOUNT_RATIO_MIN,
        true,
      );
    }
    if (names.includes('solid'))
      judge(
        `${engine.name}: key p95, ${own} to Solid`,
        of(own, 'p95') / of('solid', 'p95'),
        KEY_RATIO_SOLID_MAX,
        false,
      );
  }
}
conclude('screens', options, about, bars, data);

function figures({ mounts, keys }: Run, memory: Memory): Figures {
  const sorted = keys.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { mount: median(mounts.slice(WARM_UP)), p50: at(0.5), p95: at(0.95), memory };
}

function judge(what: string, ratio: number, bound: number, isLeast: boolean): void {
  bars.push({
    what,
    bar: `${isLeast ? '≥' : '≤'} ${bound}`,
    figure: `${ratio.toFixed(2)}×`,
    met: isLeast ? ratio >= bound : ratio <= bound,
  });
}
