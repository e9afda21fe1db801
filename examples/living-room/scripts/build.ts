/**
 * Builds the server, the page's scripts and the player's bundle into `dist`, or the folder that is named. The screens are compiled for engines without
 * JIT by `@sluice/compiler`; what it did is in `player-report.txt`.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { esbuildPlugin } from '@sluice/compiler/screens';
import { build as bundle, type BuildOptions } from 'esbuild';

const src = join(import.meta.dirname, '../src');

export interface Built {
  readonly folder: string;
  /** Address of the server that the player asks, without a slash at the end. */
  readonly server: string;
}

export async function build({ folder, server }: Built): Promise<void> {
  await rm(join(folder, 'assets'), { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const common: BuildOptions = {
    bundle: true,
    minify: true,
    jsx: 'automatic',
    target: 'es2022',
    format: 'esm',
    legalComments: 'none',
    logLevel: 'warning',
    define: { 'process.env.NODE_ENV': '"production"', LIVING_ROOM_SERVER: JSON.stringify(server) },
  };
  const compiled = (name: string): NonNullable<BuildOptions['plugins']> => [
    esbuildPlugin({ report: join(folder, `${name}-report.json`) }),
  ];
  await bundle({
    ...common,
    entryPoints: [join(src, 'browser.tsx')],
    outdir: join(folder, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    splitting: true,
    conditions: ['browser', 'production'],
    plugins: compiled('browser'),
  });
  await bundle({
    ...common,
    entryPoints: [join(src, 'player.tsx')],
    outfile: join(folder, 'player.js'),
    format: 'iife',
    conditions: ['production'],
    plugins: compiled('player'),
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

if (process.argv[1] === import.meta.filename)
  await build({
    folder: join(import.meta.dirname, '../dist'),
    server: process.env['SERVER'] ?? `http://127.0.0.1:${process.env['PORT'] ?? 3200}`,
  });
