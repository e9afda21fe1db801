/**
 * Installs and builds an app, and only when its lock file or its sources have changed since the last time.
 *
 * The stamp that remembers lies in `node_modules`, so that whoever deletes that folder deletes the stamp with it.
 */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Framework } from './frameworks.ts';

/** For Directus, which compiles SQLite and isolated-vm where no prebuilt ones can be had. */
const command_timeout_ms = 25 * 60_000;
const installInputs = ['package.json', 'package-lock.json'];

/** Names that tools write; no app has a source file in a folder called so. */
const written = new Set([
  'node_modules',
  'build',
  'dist',
  'next-env.d.ts',
  '.astro',
  '.data',
  '.next',
  '.next-standalone',
  '.nitro',
  '.nuxt',
  '.output',
  '.react-router',
  '.svelte-kit',
]);

interface Stamp {
  install?: string;
  builds?: Record<string, string>;
}

/** Installs `folder` from its lock file, with the `node` found in `bin`. */
export async function installIfStale(folder: string, bin: string): Promise<void> {
  const hash = hashOf(folder, installInputs);
  if (readStamp(folder).install === hash) return;
  // Not `npm ci`: it refuses a lock file without every optional package of every other platform, and npm leaves those
  // out when the registry lacks them. This takes all that is locked as it is locked, and writes nothing back.
  await run('npm', ['install', '--no-save', '--no-audit', '--no-fund'], folder, bin);
  writeStamp(folder, { install: hash });
}

/** Runs the app's build script; the install has to be fresh already. */
export async function buildIfStale(
  framework: Pick<Framework, 'name' | 'build'>,
  folder: string,
  bin: string,
): Promise<void> {
  const { build } = framework;
  if (build === undefined) return;
  const hash = hashOf(folder, sourcesOf(folder));
  const stamp = readStamp(folder);
  if (stamp.builds?.[build.script] === hash && existsSync(join(folder, build.leaves))) return;
  await run('npm', ['run', build.script], folder, bin);
  if (!existsSync(join(folder, build.leaves)))
    throw new Error(`the build of ${framework.name} left no ${build.leaves}`);
  writeStamp(folder, { ...stamp, builds: { ...stamp.builds, [build.script]: hash } });
}

function sourcesOf(folder: string, below = ''): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true })
    .filter((entry) => !written.has(entry.name))
    .flatMap((entry) => {
      const path = join(below, entry.name);
      return entry.isDirectory() ? sourcesOf(folder, path) : [path];
    })
    .sort();
}

function hashOf(folder: string, files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(folder, file)))
      .update('\0');
  return hash.digest('hex');
}

function stampPath(folder: string): string {
  return join(folder, 'node_modules', '.sluice-conformance.json');
}

function readStamp(folder: string): Stamp {
  const path = stampPath(folder);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Stamp) : {};
}

function writeStamp(folder: string, stamp: Stamp): void {
  writeFileSync(stampPath(folder), `${JSON.stringify(stamp, null, 2)}\n`);
}

async function run(command: string, args: readonly string[], cwd: string, bin: string): Promise<void> {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...quietTools,
    // node-gyp compiles on one CPU unless told.
    JOBS: 'max',
    PATH: [bin, process.env['PATH']].join(delimiter),
  };
  // The test runner's own marks would make a child that is a test runner, too, report to it.
  delete env['NODE_TEST_CONTEXT'];
  delete env['NODE_OPTIONS'];
  delete env['NODE_ENV'];
  const child = spawn(command, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: command_timeout_ms,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const status = await new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  if (status !== 0)
    throw new Error(
      `${command} ${args.join(' ')} in ${cwd} ended with ${String(status)}:\n${endsOf(output)}`,
    );
}

/** npm names the cause first, compilers last. */
function endsOf(output: string): string {
  return output.length <= 4_000 ? output : `${output.slice(0, 2_000)}\n…\n${output.slice(-2_000)}`;
}

/** No tool may ask a question, report to its makers or look for a newer version of itself. */
export const quietTools = {
  CI: '1',
  DO_NOT_TRACK: '1',
  ASTRO_TELEMETRY_DISABLED: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  NUXT_TELEMETRY_DISABLED: '1',
  npm_config_update_notifier: 'false',
};
