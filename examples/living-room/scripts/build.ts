/**
 * Builds the server, the page's scripts and the player's bundle into `dist`. The screens are compiled for engines without
 * JIT by `@sluice/compiler`; what it did is in `player-report.txt`.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { esbuildPlugin } from '@sluice/compiler/screens';
import { build as bundle, type BuildOptions } from 'esbuild';

const src = join(import.meta.dirname, '../src');

const common: BuildOptions = {
  bundle: true,
  minify: true,
  jsx: 'automatic',
  target: 'es2022',
  format: 'esm',
  legalComments: 'none',
  logLevel: 'warning',
  define: { 'process.env.NODE_ENV': '"production"' },
};

/** Builds the server and the page's scripts. */
export async function buildServer(folder: string): Promise<void> {
  await rm(join(folder, 'assets'), { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await bundle({
    ...common,
    entryPoints: [join(src, 'browser.tsx')],
    outdir: join(folder, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    splitting: true,
    conditions: ['browser', 'production'],
    plugins: [esbuildPlugin()],
  });
  await bundle({
    ...common,
    minify: false,
    platform: 'node',
    target: 'node20',
    packages: 'external',
    entryPoints: [join(src, 'server.ts')],
    outfile: join(folder, 'server.js'),
  });
}

/** Builds the player's bundle, and writes beside it which server it asks: an address without a slash at the end. */
export async function buildPlayer(folder: string, server: string): Promise<void> {
  await bundle({
    ...common,
    // The player runs scripts.
    format: 'iife',
    entryPoints: [join(src, 'player.tsx')],
    outfile: join(folder, 'player.js'),
    conditions: ['production'],
    plugins: [esbuildPlugin({ report: join(folder, 'player-report.json') })],
  });
  await writeFile(join(folder, 'server.json'), JSON.stringify({ server }));
}

if (process.argv[1] === import.meta.filename) {
  const dist = join(import.meta.dirname, '../dist');
  await buildServer(dist);
  await buildPlayer(dist, process.env['SERVER'] ?? `http://127.0.0.1:${process.env['PORT'] ?? 3200}`);
}
