/**
 * Installs the React of one minor version into its folder, and beside it Sluice's renderer as it was built last: a copy,
 * because Node would resolve a link to the renderer's own place, and find the React that lies there.
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { LINES } from '../../src/facts/lines.js';

const install_timeout_ms = 10 * 60_000;
/** Times that a copy is tried to be put into its place while others do the same. */
const RENAMES_MAX = 20;
const own = join(import.meta.dirname, '../..');

/** Each line that is known has a folder here. */
export const minors: readonly string[] = LINES;

/** Returns the folder of `minor`, ready for use. */
export function install(minor: string): string {
  const folder = join(import.meta.dirname, minor);
  installIfStale(folder);
  copyRenderer(folder);
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

/**
 * Puts a copy of the built renderer into the folder's `node_modules`, unless it is there. Test files that run at the same time share it, so
 * it appears whole, and one that has been loaded stays.
 */
export function copyRenderer(folder: string): void {
  const copy = join(folder, 'node_modules/@sluice/react');
  const wanted = hashOf(['package.json', ...filesIn(join(own, 'dist')).map((file) => join('dist', file))]);
  const stamp = join(copy, '.sluice-copied');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  const made = `${copy}-${process.pid}`;
  cpSync(join(own, 'dist'), join(made, 'dist'), { recursive: true });
  cpSync(join(own, 'package.json'), join(made, 'package.json'));
  writeFileSync(join(made, '.sluice-copied'), wanted);
  // Another process may do the same: its copy is as good.
  for (let tries = 0; tries < RENAMES_MAX; tries += 1) {
    rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
    try {
      renameSync(made, copy);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
      if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) break;
    }
  }
  rmSync(made, { recursive: true, force: true });
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
