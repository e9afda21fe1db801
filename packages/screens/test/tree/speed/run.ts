/**
 * Our renderer against react-reconciler with the least of hosts, on an engine that only interprets:
 *
 *   node --import tsx test/tree/speed/run.ts [--jit] [--profile]
 *
 * Prints microseconds of a key press that moves the focus in a row of 20 posters (80 widgets), and of the first screen of 300 widgets; then the
 * size of the renderer.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Times } from './measure.ts';
import { build, type BuildOptions } from 'esbuild';

const flags = process.argv.includes('--jit') ? [] : ['--jitless'];
const folder = mkdtempSync(join(tmpdir(), 'sluice-screens-'));
const options: BuildOptions = {
  bundle: true,
  minify: !process.argv.includes('--profile'),
  format: 'cjs',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  conditions: ['production'],
  define: { 'process.env.NODE_ENV': '"production"' },
};

interface Result {
  readonly press: Times;
  readonly mount: Times;
}

try {
  const results: Result[] = [];
  for (const name of ['stock', 'ours']) {
    const outfile = join(folder, `${name}.cjs`);
    await build({
      ...options,
      jsx: 'automatic',
      entryPoints: [join(import.meta.dirname, `${name}.tsx`)],
      outfile,
    });
    const profile = process.argv.includes('--profile') ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : [];
    results.push(
      JSON.parse(
        execFileSync(process.execPath, [...flags, ...profile, outfile], { encoding: 'utf8' }),
      ) as Result,
    );
  }
  const [stock, ours] = results as [Result, Result];
  console.log(`node ${process.version} ${flags.join(' ')}, microseconds`);
  for (const what of ['press', 'mount'] as const)
    for (const share of ['p50', 'p95', 'cpu'] as const)
      console.log(
        `${what} ${share}: ours ${ours[what][share]}, react-reconciler ${stock[what][share]}: ${(stock[what][share] / ours[what][share]).toFixed(2)} times`,
      );
  const outfile = join(folder, 'size.js');
  await build({
    ...options,
    minify: true,
    format: 'esm',
    entryPoints: [join(import.meta.dirname, '../../../src/root.ts')],
    external: ['react'],
    outfile,
  });
  const code = readFileSync(outfile);
  console.log(`renderer without react: ${code.length} bytes, ${gzipSync(code).length} gzip`);
} finally {
  if (!process.argv.includes('--keep')) rmSync(folder, { recursive: true });
  else console.log(folder);
}
