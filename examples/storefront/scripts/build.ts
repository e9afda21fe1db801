/**
 * Builds the shop into `dist/`: the server bundle, the cost table, the service of suggestions, and the assets; the first two once
 * more as they would be with react-dom alone, to compare; and by Vite the components of the page platform. Run by
 * `npm run build`.
 */

import { copyFile, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sluice from '@sluice/browser/vite';
import { compile } from '@sluice/compiler';
import { build as bundle, type BuildOptions, type Plugin } from 'esbuild';
import { createBuilder } from 'vite';

const home = dirname(dirname(fileURLToPath(import.meta.url)));

const server = {
  absWorkingDir: home,
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

/** Code of the page platform's components, for browsers and for the server: `docs/guide/browser.md`. */
async function buildShelf(dist: string): Promise<void> {
  const shelf = join(dist, 'shelf');
  const browser = join(dist, 'assets/shelf');
  // Names have hashes in them, so old files would stay.
  await Promise.all([shelf, browser].map((folder) => rm(folder, { recursive: true, force: true })));
  const builder = await createBuilder({
    root: home,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [sluice({ components: 'src/shelf/components', manifest: join(shelf, 'sluice-assets.json') })],
    environments: {
      client: { build: { outDir: dist, assetsDir: 'assets/shelf', emptyOutDir: false } },
      ssr: { build: { outDir: shelf, emptyOutDir: false } },
    },
  });
  await builder.buildApp();
  await Promise.all(
    ['base.css', 'parts.css'].map((file) => copyFile(join(home, 'src/client', file), join(shelf, file))),
  );
}

/** `dist`: an absolute path. */
export async function build(dist = join(home, 'dist')): Promise<void> {
  const assets = join(dist, 'assets');
  await mkdir(assets, { recursive: true });
  await Promise.all([
    buildShelf(dist),
    bundle({
      ...server,
      outdir: dist,
      entryPoints: {
        server: 'src/server.ts',
        costs: 'src/costs.ts',
        suggestions: 'src/shelf/service.ts',
      },
      plugins: [templates],
    }),
    bundle({
      ...server,
      outdir: dist,
      entryPoints: { 'server.react-dom': 'src/server.ts', 'costs.react-dom': 'src/costs.ts' },
      alias: { '@sluice/react/server': 'react-dom/server' },
    }),
    bundle({
      absWorkingDir: home,
      entryPoints: { client: 'src/client/main.ts' },
      outdir: assets,
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
      outdir: assets,
      bundle: true,
      minify: true,
      logLevel: 'warning',
    }),
    copyFile(join(home, 'src/client/icon.svg'), join(assets, 'icon.svg')),
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build();
