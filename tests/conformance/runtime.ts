/**
 * Picks the Node an app runs on: the one on the path where it is new enough, else a newer one that npm installs under
 * `runtime/`. Some frameworks have left Node versions behind that Sluice still serves.
 */

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installIfStale } from './prepare.ts';

const runtime = join(import.meta.dirname, 'runtime');

export interface Runtime {
  /** The folder with the `node` executable, to be put first on the path. */
  readonly bin: string;
  readonly version: string;
}

/** The Node that runs these tests. */
export const ownRuntime: Runtime = { bin: dirname(process.execPath), version: process.version };

/**
 * The Node for an app that needs at least `nodeMin`, or undefined where the Node at hand is too old and `mayInstall`
 * is false.
 */
export async function runtimeFor(
  nodeMin: string | undefined,
  mayInstall: boolean,
): Promise<Runtime | undefined> {
  if (nodeMin === undefined || isAtLeast(process.version, nodeMin)) return ownRuntime;
  if (!mayInstall) return undefined;
  await installIfStale(runtime, ownRuntime.bin);
  const names = [`node-${process.platform}-${process.arch}`, `node-bin-${process.platform}-${process.arch}`];
  const bin = names
    .map((name) => join(runtime, 'node_modules', name, 'bin'))
    .find((path) => existsSync(path));
  if (bin === undefined) return undefined;
  const version = execFileSync(join(bin, 'node'), ['--version'], { encoding: 'utf8' }).trim();
  return isAtLeast(version, nodeMin) ? { bin, version } : undefined;
}

/** Compares `v22.18.0` and the like number by number; a pre-release counts as its release. */
export function isAtLeast(version: string, minimum: string): boolean {
  const wanted = numbers(minimum);
  const found = numbers(version);
  for (const [index, number] of wanted.entries()) {
    const difference = (found[index] ?? 0) - number;
    if (difference !== 0) return difference > 0;
  }
  return true;
}

function numbers(version: string): number[] {
  return version.replace(/^v/, '').split('-')[0]?.split('.').map(Number) ?? [];
}
