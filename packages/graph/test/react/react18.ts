// React 18.3, and code that is run with it.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { install } from '../../../react/test/versions/install.ts';

const packages = path.join(import.meta.dirname, '../../..');

/** Folder of packages that finds React 18.3 first, with `@sluice/react` beside it. */
export function modulesOf18(): string {
  return path.join(install('18.3'), 'node_modules');
}

/** Module of this folder, bundled below the folder of React 18.3, so that it finds that. */
export async function imported18(name: string): Promise<unknown> {
  const outfile = path.join(modulesOf18(), '.graph', `${path.parse(name).name}.mjs`);
  await build({
    entryPoints: [path.join(import.meta.dirname, name)],
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
  return import(pathToFileURL(outfile).href);
}
