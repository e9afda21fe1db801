/**
 * Publishes the tarballs of a release with provenance, binaries first and the command last, so that no version is there whose
 * parts are not. Versions that are there already are left, which makes a second try safe.
 *
 *     tsx packaging/publish.ts [--from DIR] [options of `npm publish`]
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { tarballsInOrder } from './release.ts';
import { distDir, repositoryUrl } from './workspace.ts';

/** Answers of registries that have the version already. */
const IS_THERE = /EPUBLISHCONFLICT|E409|previously published|already present/;

function publish(file: string, options: readonly string[]): number {
  const args = ['publish', file, '--access', 'public', '--provenance', ...options];
  const { status, stderr, error } = spawnSync('npm', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status === 0) console.log(`published ${path.basename(file)}`);
  else if (IS_THERE.test(stderr)) console.log(`there already: ${path.basename(file)}`);
  else {
    console.error(error?.message ?? stderr);
    return status ?? 1;
  }
  return 0;
}

if (repositoryUrl() === undefined) {
  console.error(
    'Packages are published by the workflow of a release, which proves where they come from: GITHUB_REPOSITORY is not set.',
  );
  process.exit(1);
}
const [, , ...args] = process.argv;
const [dir, options] = args[0] === '--from' ? [args[1] ?? distDir, args.slice(2)] : [distDir, args];
for (const file of tarballsInOrder(dir)) {
  process.exitCode = publish(file, options);
  if (process.exitCode !== 0) break;
}
