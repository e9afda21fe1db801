// Engines that interpret: Node without a JIT, JavaScriptCore's shell without its JIT, QuickJS by the player.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

export interface Engine {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Result of a run. Times in milliseconds. */
export interface Run {
  readonly mounts: readonly number[];
  readonly keys: readonly number[];
  /** Words and strings of the first screen's batch, and of the last key's. */
  readonly words: number;
  readonly keyWords: number;
}

/** Heap with all garbage freed; undefined in an engine that does not tell. */
export interface Heap {
  readonly bytes: number;
  /** Undefined in engines that do not count them. */
  readonly objects?: number;
}

/** Result of a run for memory. */
export interface Memory {
  /** Heap of the program alone. Engines that compile functions when they are called have not compiled most of them. */
  readonly program?: Heap;
  /** Heap with the first screen. */
  readonly first?: Heap;
  /** Heap after 200 keys. */
  readonly keys?: Heap;
}

/** Arguments of Node: no JIT, and a `gc()` that leaves compiled functions, whose bytes would be missing by chance. */
const V8 = ['--jitless', '--expose-gc', '--no-flush-bytecode', '--no-warnings'];
const player = path.join(import.meta.dirname, '../../screens/player/target/release/sluice-player');

/** Engines that are on this machine. Those that are not are named on stderr. */
export function engines(): Engine[] {
  const all: Engine[] = [
    { name: 'JavaScriptCore', command: '/usr/bin/jsc', args: [], env: { JSC_useJIT: '0' } },
    { name: 'QuickJS', command: player, args: ['run'], env: {} },
    {
      name: 'V8 --jitless',
      command: process.execPath,
      args: V8,
      env: {},
    },
  ];
  return all.filter(({ name, command }) => {
    if (fs.existsSync(command)) return true;
    const how = name === 'QuickJS' ? '`make player`' : '`apt-get install libjavascriptcoregtk-4.0-bin`';
    console.error(`${name} is left out: there is no ${command}; ${how} brings it`);
    return false;
  });
}

/** Runs a script, and reads the line of JSON that it prints. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The script says what it prints.
export function run<Result>(engine: Engine, script: string): Result {
  const { stdout, stderr, status, error } = spawnSync(engine.command, [...engine.args, script], {
    encoding: 'utf8',
    env: { ...process.env, ...engine.env },
    timeout: 300_000,
  });
  const line = stdout?.trim().split('\n').at(-1) ?? '';
  if (error !== undefined || status !== 0 || !line.startsWith('{'))
    throw new Error(
      `${engine.name} failed on ${script} (${status}): ${error?.message ?? ''} ${stderr} ${stdout}`,
    );
  return JSON.parse(line) as Result;
}
