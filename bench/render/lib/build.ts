// Builds what the servers of the benchmark run, all from `shop/`: with esbuild into `.build/`, and for Next.js its own way.
import fs from 'node:fs';
import path from 'node:path';
import { build as bundle, transform, type BuildOptions } from 'esbuild';
import { ownRuntime } from '../../../tests/conformance/runtime.ts';
import { buildIfStale, installIfStale } from '../../../tests/conformance/prepare.ts';
import { versionIn } from '../../lib/npm.ts';

const folder = path.join(import.meta.dirname, '..');
const shop = path.join(folder, 'shop');
const nextFolder = path.join(folder, 'next');

export const built = (name: string): string => path.join(folder, '.build', name);
/** Directory of files for browsers, of the pages that are one tree of React. */
export const assets = built('assets');

export async function build(): Promise<void> {
  const common: BuildOptions = {
    absWorkingDir: folder,
    bundle: true,
    jsx: 'automatic',
    minify: true,
    logLevel: 'warning',
    define: { 'process.env.NODE_ENV': '"production"' },
  };
  const onServer: BuildOptions = {
    ...common,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minify: false,
  };
  await Promise.all([
    bundle({ ...onServer, entryPoints: ['servers/express.tsx'], outfile: built('express.mjs') }),
    bundle({ ...onServer, entryPoints: ['servers/batch.tsx'], outfile: built('batch.mjs') }),
    bundle({ ...onServer, entryPoints: ['servers/sluice.ts'], outfile: built('sluice.mjs') }),
    bundle({ ...onServer, entryPoints: ['servers/worker-nodes.ts'], outfile: built('worker-nodes.mjs') }),
    bundle({ ...onServer, entryPoints: ['servers/registry.ts'], outfile: built('registry.mjs') }),
    bundle({ ...onServer, entryPoints: ['servers/times.ts'], outfile: built('times.mjs') }),
    // worker-nodes loads it with `require`.
    bundle({
      ...onServer,
      format: 'cjs',
      entryPoints: ['servers/renderer.tsx'],
      outfile: built('renderer.cjs'),
    }),
    bundle({
      ...common,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      entryPoints: ['client/whole.tsx'],
      outfile: path.join(assets, 'client.js'),
    }),
  ]);
  fs.writeFileSync(path.join(assets, 'listing.css'), await css());
}

/** Next.js with the same components, whose types esbuild strips; the file of its standalone server. */
export async function buildNext(): Promise<string> {
  const copies = path.join(nextFolder, 'shop');
  fs.mkdirSync(copies, { recursive: true });
  for (const name of fs.readdirSync(shop).filter((each) => /\.tsx?$/.test(each))) {
    const source = fs.readFileSync(path.join(shop, name), 'utf8');
    const { code } = await transform(source, {
      loader: name.endsWith('x') ? 'tsx' : 'ts',
      jsx: 'preserve',
      target: 'es2022',
    });
    fs.writeFileSync(path.join(copies, name.replace(/\.tsx?$/, '.jsx')), code);
  }
  fs.writeFileSync(path.join(copies, 'listing.css'), await css());
  await installIfStale(nextFolder, ownRuntime.bin);
  const app = { name: 'the benchmark’s Next.js app', build: { script: 'build', leaves: '.next/BUILD_ID' } };
  await buildIfStale(app, nextFolder, ownRuntime.bin);
  const standalone = path.join(nextFolder, '.next/standalone');
  // Next leaves this to whoever deploys it.
  fs.cpSync(path.join(nextFolder, '.next/static'), path.join(standalone, '.next/static'), {
    recursive: true,
  });
  return path.join(standalone, 'server.js');
}

export const nextVersion = (): string => versionIn(nextFolder, 'next');

/** All styles in one file, minified. */
async function css(): Promise<string> {
  const sources = fs
    .readdirSync(path.join(shop, 'css'))
    .sort()
    .map((name) => fs.readFileSync(path.join(shop, 'css', name), 'utf8'));
  return (await transform(sources.join(''), { loader: 'css', minify: true })).code;
}
