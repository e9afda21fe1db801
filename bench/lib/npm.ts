// Peers that npm has: into a temporary folder that later runs find again. They are compared with, not depended on.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { temporaryDir } from './run.ts';

/** Installs `packages` (`pm2@7`) unless `file` is there already, and returns the folder that holds `node_modules`. */
export function installFromNpm(name: string, packages: string[], file: string): string {
  const dir = path.join(os.tmpdir(), `sluice-bench-${name}`);
  if (fs.existsSync(path.join(dir, 'node_modules', file))) return dir;
  console.log(`${packages.join(', ')}: installed from npm into ${dir}, for this benchmark only.`);
  // Elsewhere until it is whole: an install that was interrupted is begun again.
  const begun = temporaryDir(`sluice-bench-${name}-`);
  const args = ['install', '--prefix', begun, '--no-audit', '--no-fund', '--loglevel=error', ...packages];
  const { status } = spawnSync('npm', args, { cwd: begun, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0)
    throw new Error(`${name} could not be installed; \`--only\` with other names leaves it out`);
  fs.rmSync(dir, { recursive: true, force: true });
  fs.renameSync(begun, dir);
  return dir;
}

/** The version of an installed package. */
export function versionIn(dir: string, name: string): string {
  const file = path.join(dir, 'node_modules', name, 'package.json');
  return (JSON.parse(fs.readFileSync(file, 'utf8')) as { version: string }).version;
}
