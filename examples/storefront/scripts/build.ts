/**
 * Builds the shop into `dist/`: the server bundle, the cost table, and the assets; and the first two once more as they would
 * be with react-dom alone, to compare. Run by `npm run build`.
 */

import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from '@sluice/compiler';
import { build as bundle, type BuildOptions, type Plugin } from 'esbuild';

const home = dirname(dirname(fileURLToPath(import.meta.url)));

const server = {
  absWorkingDir: home,
  outdir: 'dist',
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  jsx: 'automatic',
  sourcemap: true,
  logLevel: 'warning',
} satisfies BuildOptions;

/** Turns the host elements of each file into templates, before esbuild turns the rest of its JSX into calls. */
const templates: Plugin = {
  name: 'templates',
  setup(builder) {
    builder.onLoad({ filter: /\.tsx$/ }, async ({ path }) => {
      const compiled = await compile(await readFile(path, 'utf8'), path);
      if (compiled === undefined) return undefined;
      const map = Buffer.from(JSON.stringify(compiled.map)).toString('base64');
      return {
        contents: `${compiled.code}\n//# sourceMappingURL=data:application/json;base64,${map}`,
        loader: 'tsx',
      };
    });
  },
};

export async function build(): Promise<void> {
  const assets = join(home, 'dist/assets');
  await mkdir(assets, { recursive: true });
  await Promise.all([
    bundle({
      ...server,
      entryPoints: { server: 'src/server.ts', costs: 'src/costs.ts' },
      plugins: [templates],
    }),
    bundle({
      ...server,
      entryPoints: { 'server.react-dom': 'src/server.ts', 'costs.react-dom': 'src/costs.ts' },
      alias: { '@sluice/react/server': 'react-dom/server' },
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
