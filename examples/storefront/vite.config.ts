/**
 * Builds the shop: `vite build` makes `dist/client` for browsers, and `dist/server.js` with the components of the page platform for
 * Node. `vite build --mode react-dom` makes the same server as it would be with react-dom alone, to compare.
 */

import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import sluice from '@sluice/browser/vite';
import templates from '@sluice/compiler/vite';
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';

const home = import.meta.dirname;

/** Styles of all pages of the page platform, which the server puts together with those of a page's components. */
function platformStyles(dist: string): Plugin {
  return {
    name: 'platform-styles',
    applyToEnvironment: ({ name }) => name === 'ssr',
    async writeBundle() {
      for (const file of ['base.css', 'parts.css'])
        await copyFile(join(home, 'src/client', file), join(dist, file));
    },
  };
}

export default defineConfig(({ mode }) => {
  // Tests build into folders of their own.
  const dist = process.env['STOREFRONT_DIST'] ?? join(home, 'dist');
  const node = {
    outDir: dist,
    // `dist/client` is in it.
    emptyOutDir: false,
    copyPublicDir: false,
    target: 'node20',
    sourcemap: true,
    rollupOptions: {
      output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
    },
  };
  if (mode === 'react-dom')
    return {
      root: home,
      publicDir: false,
      logLevel: 'warn',
      resolve: { alias: { '@sluice/react/server': 'react-dom/server' } },
      ssr: { external: true },
      build: {
        ...node,
        ssr: true,
        rollupOptions: {
          ...node.rollupOptions,
          input: { 'server.react-dom': 'src/server.ts', 'probe.react-dom': 'src/probe.ts' },
        },
      },
    };
  return {
    root: home,
    logLevel: 'warn',
    plugins: [
      templates(),
      sluice({ components: 'src/shelf/components', manifest: join(dist, 'sluice-assets.json') }),
      platformStyles(dist),
    ],
    environments: {
      client: {
        build: {
          outDir: join(dist, 'client'),
          manifest: true,
          rollupOptions: { input: { shop: 'src/client/main.ts' } },
        },
      },
      ssr: {
        resolve: { external: true },
        build: {
          ...node,
          rollupOptions: {
            ...node.rollupOptions,
            input: {
              server: 'src/server.ts',
              costs: 'src/costs.ts',
              probe: 'src/probe.ts',
              suggestions: 'src/shelf/service.ts',
            },
          },
        },
      },
    },
  };
});
