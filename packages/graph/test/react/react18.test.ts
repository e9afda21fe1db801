// The hooks with React 18.3, which many apps have.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { install } from '../../../react/test/versions/install.ts';
import type { hooksOnServer } from './hooks.js';

/** Code below the folder of React 18.3 finds that, and the renderer beside it. */
const folder = path.join(install('18.3'), 'node_modules/.graph');
const packages = path.join(import.meta.dirname, '../../..');
fs.rmSync(folder, { recursive: true, force: true });
const outfile = path.join(folder, 'hooks.mjs');
await build({
  entryPoints: [path.join(import.meta.dirname, 'hooks.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  alias: {
    '@sluice/render/react': path.join(packages, 'render/dist/adapters/react.js'),
    '@sluice/render': path.join(packages, 'render/dist/index.js'),
  },
  logLevel: 'error',
});
const hooks = (await import(pathToFileURL(outfile).href)) as { hooksOnServer: typeof hooksOnServer };
hooks.hooksOnServer('18.3');
