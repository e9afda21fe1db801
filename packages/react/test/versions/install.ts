/**
 * Installs the React of one minor version into its folder, and beside it Sluice's renderer as it was built last: a copy,
 * because Node would resolve a link to the renderer's own place, and find the React that lies there.
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { LINES } from '../../src/facts/lines.js';

const install_timeout_ms = 10 * 60_000;
const own = join(import.meta.dirname, '../..');

/** Each line that is known has a folder here. */
export const minors: readonly string[] = LINES;

/** Returns the folder of `minor`, ready for use. */
export function install(minor: string): string {
  const folder = join(import.meta.dirname, minor);
  alone(folder, () => {
    installIfStale(folder);
    copyRenderer(folder);
  });
  return folder;
}

/** Only when the lock file has changed: a stamp in `node_modules` remembers. */
export function installIfStale(folder: string): void {
  const hash = createHash('sha256');
  for (const file of ['package.json', 'package-lock.json']) hash.update(readFileSync(join(folder, file)));
  const wanted = hash.digest('hex');
  const stamp = join(folder, 'node_modules', '.sluice-installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  npmInstall(folder);
  writeFileSync(stamp, wanted);
}

export function npmInstall(folder: string): void {
  // Not `npm ci`: it refuses a lock file that was written where some platform's optional package was missing.
  const { status, stderr } = spawnSync('npm', ['install', '--no-save', '--no-audit', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: install_timeout_ms,
    env: { ...process.env, NODE_ENV: '', NODE_TEST_CONTEXT: '', npm_config_update_notifier: 'false' },
  });
  if (status !== 0) throw new Error(`npm install in ${folder} ended with ${String(status)}:\n${stderr}`);
}

/** Puts a copy of the built renderer into the folder's `node_modules`. One that is there stays, as a test that runs may have loaded it. */
export function copyRenderer(folder: string): void {
  const copy = join(folder, 'node_modules/@sluice/react');
  const wanted = hashOf(['package.json', ...filesIn(join(own, 'dist')).map((file) => join('dist', file))]);
  const stamp = join(copy, '.sluice-copied');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  rmSync(copy, { recursive: true, force: true });
  cpSync(join(own, 'dist'), join(copy, 'dist'), { recursive: true });
  cpSync(join(own, 'package.json'), join(copy, 'package.json'));
  writeFileSync(stamp, wanted);
}

/** Calls `work` while no other process works in the folder: test files of two packages run at the same time. */
function alone(folder: string, work: () => void): void {
  const lock = join(folder, '.sluice-lock');
  for (const end_ms = Date.now() + install_timeout_ms; !taken(lock);) {
    // Its process was killed.
    if (Date.now() >= end_ms) rmSync(lock, { recursive: true, force: true });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  try {
    work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function taken(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => relative(folder, join(entry.parentPath, entry.name))).sort();
}

function hashOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(own, file)));
  return hash.digest('hex');
}
