// Flags that every benchmark takes. The defaults of a benchmark are those of its bar; `--quick` is for trying it out.
import os from 'node:os';
import { parseArgs } from 'node:util';

export interface Options {
  quick: boolean;
  /** Rounds; what is compared takes turns in each. */
  runs: number;
  workers: number;
  /** A benchmark's own number flags. */
  numbers: Record<string, number>;
  /** A benchmark's own flags that take a word. */
  words: Record<string, string>;
  /** A benchmark's own flags that take several numbers, `50,72`; empty when not given. */
  lists: Record<string, number[]>;
  /** Names of servers to compare; all when empty. */
  only: string[];
  /** Leave with 1 when a bar is missed. */
  strict: boolean;
}

interface Defaults {
  runs: number;
  runsQuick: number;
  workers: number;
  /** Flag name → [value, value with --quick]. */
  numbers?: Record<string, [number, number]>;
  /** Flag name → what it may be; the first is the default. */
  words?: Record<string, string[]>;
  /** Flags that take several numbers. */
  lists?: string[];
}

export const cores = os.availableParallelism();

export function readOptions(defaults: Defaults): Options {
  // Leaving through `exit` lets everything that was started be stopped. A second signal, which tsx sends on Ctrl-C, is not to end that.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
  // Each server that runs has something to do then.
  process.setMaxListeners(100);
  const lists = defaults.lists ?? [];
  const own = [...Object.keys(defaults.numbers ?? {}), ...Object.keys(defaults.words ?? {}), ...lists];
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
      runs: { type: 'string' },
      workers: { type: 'string' },
      only: { type: 'string', default: '' },
      ...Object.fromEntries(own.map((name) => [name, { type: 'string' as const }])),
    },
  });
  const given: Record<string, string | boolean | undefined> = values;
  const quick = values.quick;
  const number = (name: string, fallback: number): number => {
    const text = given[name];
    const value = typeof text === 'string' ? Number(text) : fallback;
    if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} must be a number above 0`);
    return value;
  };
  const word = (name: string, choices: string[]): string => {
    const value = given[name] ?? choices[0];
    if (typeof value === 'string' && choices.includes(value)) return value;
    throw new Error(`--${name} must be one of ${choices.join(', ')}`);
  };
  const list = (name: string): number[] => {
    const text = given[name];
    if (typeof text !== 'string') return [];
    const values = text.split(',').map(Number);
    if (values.every((value) => Number.isFinite(value) && value > 0)) return values;
    throw new Error(`--${name} must be numbers above 0 with commas between`);
  };
  return {
    quick,
    strict: values.strict,
    runs: number('runs', quick ? defaults.runsQuick : defaults.runs),
    workers: number('workers', defaults.workers),
    only: values.only.split(',').filter((name) => name !== ''),
    words: Object.fromEntries(
      Object.entries(defaults.words ?? {}).map(([name, choices]) => [name, word(name, choices)]),
    ),
    lists: Object.fromEntries(lists.map((name) => [name, list(name)])),
    numbers: Object.fromEntries(
      Object.entries(defaults.numbers ?? {}).map(([name, [full, short]]) => [
        name,
        number(name, quick ? short : full),
      ]),
    ),
  };
}
