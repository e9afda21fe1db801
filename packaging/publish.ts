/**
 * Publishes the tarballs of `dist/` with provenance, binaries first and the command last, so that no version is there whose
 * parts are not. Versions that are there already are left, which makes a second try safe. Arguments go to `npm publish`.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { distDir, releaseVersion } from './workspace.ts';

const order = JSON.parse(fs.readFileSync(path.join(distDir, 'packages.json'), 'utf8')) as readonly string[];
const sums = new Map(
  fs
    .readFileSync(path.join(distDir, 'SHA256SUMS'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('  ').toReversed() as [string, string]),
);

for (const name of order) {
  const file = path.join(distDir, name);
  if (createHash('sha256').update(fs.readFileSync(file)).digest('hex') !== sums.get(name)) {
    console.error(`${name} is not the file that SHA256SUMS names: run "make dist" again.`);
    process.exit(1);
  }
  const args = ['publish', file, '--access', 'public', '--provenance', ...process.argv.slice(2)];
  const { status, stderr } = spawnSync('npm', args, {
    encoding: 'utf8',
    stdio: ['inherit', 'inherit', 'pipe'],
  });
  if (status === 0) console.log(`published ${name}`);
  else if (/EPUBLISHCONFLICT|previously published|already present/.test(stderr))
    console.log(`${name}: ${releaseVersion()} is there already`);
  else {
    console.error(stderr);
    process.exit(status ?? 1);
  }
}
