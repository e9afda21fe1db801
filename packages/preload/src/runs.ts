/**
 * `@sluice/preload/runs`: counts the uninterrupted runs of the main thread of any program, and prints them when it exits. It needs no
 * gateway, and does nothing in a worker, whose runs `sluice status` shows.
 *
 *     node --import @sluice/preload/runs --test
 *     SLUICE_RUNS=dev.json node --import @sluice/preload/runs script.js
 *
 * `SLUICE_RUNS` names a file to which each process adds a line of JSON, for `sluice compare`.
 */
import { appendFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { RUN_BOUNDS_US } from './control/messages.js';
import { type EndedRun, RunWatch } from './cpu/run-watch.js';
import { registryKey } from './requests/registry.js';

const STDERR = 2;
/** First bucket of each class that is printed. */
const CLASSES: readonly (readonly [string, number])[] = [
  ['below 1 ms', 0],
  ['of 1 to 10 ms', 1_000],
  ['of 10 to 100 ms', 10_000],
  ['of 100 ms to 1 s', 100_000],
  ['longer', 1_000_000],
];

if (isMainThread && !(registryKey in globalThis) && process.env['SLUICE_SOCKET'] === undefined) {
  const watch = new RunWatch();
  watch.start();
  process.on('exit', () => {
    watch.end();
    tell(watch);
  });
}

function tell(watch: RunWatch): void {
  const { counts, time_us, observed_us, collections, collected_us, long } = watch.news();
  if (observed_us === 0) return;
  const program = path.basename(process.argv[1] ?? 'node');
  const line = CLASSES.map(([name, from_us], at) => {
    const below_us = CLASSES[at + 1]?.[1] ?? Infinity;
    let sum = 0;
    for (const [bucket, count] of counts.entries()) {
      const begin_us = RUN_BOUNDS_US[bucket - 1] ?? 0;
      if (begin_us >= from_us && begin_us < below_us) sum += count;
    }
    return `${sum} ${name}`;
  }).join(', ');
  const text = [
    `runs of ${program}: ${line}; garbage collector ${percent(collected_us, observed_us)} of the time\n`,
    ...longestOf(long).map((run) => `  ${longText(run)}\n`),
    long.length > 0 ? '  `node --cpu-prof` and `sluice hotspots` name the lines\n' : '',
  ].join('');
  say(text);
  const file = process.env['SLUICE_RUNS'];
  if (file === undefined || file === '') return;
  const runs = { upper_us: RUN_BOUNDS_US, counts, time_us, observed_us, collections, collected_us };
  try {
    appendFileSync(file, `${JSON.stringify({ program, runs })}\n`);
  } catch (error) {
    say(`SLUICE_RUNS: ${file} cannot be written: ${(error as Error).message}\n`);
  }
}

/** A closed stderr is no reason for another exit code. */
function say(text: string): void {
  try {
    writeSync(STDERR, text);
  } catch {
    // Nobody reads.
  }
}

const longestOf = (long: readonly EndedRun[]): EndedRun[] =>
  long.toSorted((one, other) => other.us - one.us).slice(0, 3);

function longText({ us, cpu_us, collected_us }: EndedRun): string {
  const cpu = cpu_us === undefined ? '' : `, ${milliseconds(cpu_us)} of it on a CPU`;
  const collected = collected_us === 0 ? '' : `, ${milliseconds(collected_us)} the garbage collector`;
  return `${milliseconds(us)} in one run${cpu}${collected}`;
}

const milliseconds = (us: number): string => `${(us / 1000).toFixed(us < 10_000 ? 1 : 0)} ms`;
const percent = (part: number, whole: number): string => `${((part / whole) * 100).toFixed(2)} %`;
