/**
 * Puts a release together in `dist/`, of the binaries that are there. `--complete` refuses to do so without the binary of
 * every platform. It must not publish anything.
 */
import path from 'node:path';
import { builtBinaries } from './binaries.ts';
import { PLATFORMS } from './platforms.ts';
import { assemble } from './release.ts';
import { distDir, root } from './workspace.ts';

const binaries = builtBinaries();
const missing = PLATFORMS.filter((platform) => !binaries.has(platform)).map(({ name }) => name);
if (binaries.size === 0 || (process.argv.includes('--complete') && missing.length > 0)) {
  console.error(
    `dist/binaries lacks ${missing.join(', ')}: run "make dist-binaries" on machines that build them.`,
  );
  process.exitCode = 1;
} else {
  const { tarballs } = await assemble(distDir, binaries);
  for (const { file, bytes } of tarballs) {
    console.log(`${path.relative(root, file)}  ${(bytes / 1e6).toFixed(2)} MB`);
  }
  if (missing.length > 0) console.log(`not built here: ${missing.join(', ')}`);
}
