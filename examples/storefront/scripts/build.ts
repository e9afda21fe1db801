/** Builds the shop into `dist/`: the server bundle, the cost table, and the assets. Run by `npm run build`. */

import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle } from 'esbuild';

const home = dirname(dirname(fileURLToPath(import.meta.url)));

export async function build(): Promise<void> {
  const assets = join(home, 'dist/assets');
  await mkdir(assets, { recursive: true });
  await Promise.all([
    bundle({
      absWorkingDir: home,
      entryPoints: { server: 'src/server.ts', costs: 'src/costs.ts' },
      outdir: 'dist',
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      target: 'node20',
      jsx: 'automatic',
      sourcemap: true,
      logLevel: 'warning',
    }),
    bundle({
      absWorkingDir: home,
      entryPoints: { client: 'src/client/main.ts' },
      outdir: 'dist/assets',
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      jsx: 'automatic',
      define: { 'process.env.NODE_ENV': '"production"' },
      logLevel: 'warning',
    }),
    bundle({
      absWorkingDir: home,
      entryPoints: { storefront: 'src/client/storefront.css' },
      outdir: 'dist/assets',
      bundle: true,
      minify: true,
      logLevel: 'warning',
    }),
    copyFile(join(home, 'src/client/icon.svg'), join(assets, 'icon.svg')),
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build();
