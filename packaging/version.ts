/**
 * Gives packages, gateway and lock files the next version, by the files in `.changeset/`. Without one it changes nothing. It
 * must not publish or commit anything.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { releaseVersion, root } from './workspace.ts';

function run(program: string, ...args: readonly string[]): void {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) {
    console.error(`${program} ${args.join(' ')} failed${error === undefined ? '' : `: ${error.message}`}`);
    process.exit(status ?? 1);
  }
}

/** The workspace's version in `gateway/Cargo.toml`. */
function setCargoVersion(version: string): void {
  const file = path.join(root, 'gateway/Cargo.toml');
  const manifest = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(file, manifest.replace(/(\[workspace\.package\]\nversion = ").*(")/, `$1${version}$2`));
}

/** The version of the Helm chart. */
function setChartVersion(version: string): void {
  const file = path.join(root, 'packaging/helm/sluice/Chart.yaml');
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/^version: .*$/m, `version: ${version}`));
}

const before = releaseVersion();
run(process.execPath, path.join(root, 'packaging/node_modules/@changesets/cli/bin.js'), 'version');
const after = releaseVersion();
if (after !== before) {
  setCargoVersion(after);
  setChartVersion(after);
  run(
    'npm',
    'install',
    '--package-lock-only',
    '--prefer-offline',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  );
  run('cargo', 'update', '--workspace', '--offline', '--manifest-path', 'gateway/Cargo.toml');
  console.log(`${before} → ${after}: move the entries of CHANGELOG.md below the new version.`);
}
