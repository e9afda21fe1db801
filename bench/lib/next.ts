// The Next.js app of `bench/apps/next`: installed from its lock file and built when it is not up to date.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIfStale, installIfStale } from '../../tests/conformance/prepare.ts';
import { versionIn } from './npm.ts';

const dir = fileURLToPath(new URL('../apps/next', import.meta.url));

/** The server's file, which needs PORT only. */
export async function nextEntry(): Promise<string> {
  const bin = path.dirname(process.execPath);
  process.stderr.write(
    `${path.relative(process.cwd(), dir)}: installed and built where that is not done yet\n`,
  );
  await installIfStale(dir, bin);
  const build = { script: 'build', leaves: '.next/BUILD_ID' };
  await buildIfStale({ name: 'the benchmark’s Next.js app', build }, dir, bin);
  return path.join(dir, 'server.cjs');
}

export const nextVersion = (): string => versionIn(dir, 'next');
