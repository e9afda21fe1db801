/** Builds the pages into `.build/`, each for its library by that library's own compiler, all in production mode. */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { build as bundle, type BuildOptions, type Plugin } from 'esbuild';
import { libraries, libraryModule } from './libraries.ts';

const folder = path.join(import.meta.dirname, '..');
/** The peers' packages lie in this folder's own `node_modules`. */
const require = createRequire(path.join(folder, 'package.json'));

export const built = (name: string): string => path.join(folder, '.build', `${name}.mjs`);

export async function build(): Promise<void> {
  const common: BuildOptions = {
    absWorkingDir: folder,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
    define: { 'process.env.NODE_ENV': '"production"' },
  };
  const react: BuildOptions = { ...common, jsx: 'automatic', alias: { ui: 'react' } };
  const to = (name: string): BuildOptions => ({ outfile: built(name) });
  const ui = (name: string): BuildOptions => ({ alias: { ui: path.join(folder, `peers/ui-${name}.ts`) } });
  await Promise.all([
    bundle({ ...react, ...to('react'), entryPoints: ['entries/react.tsx'] }),
    bundle({ ...react, ...to('react-compiled'), entryPoints: ['entries/react.tsx'], plugins: [templates()] }),
    ...libraries.flatMap((name) => {
      const entryPoints = [`pages/libraries/${name}.tsx`];
      const module = libraryModule(name);
      return [
        bundle({ ...react, ...to(module), entryPoints }),
        bundle({ ...react, ...to(`${module}-compiled`), entryPoints, plugins: [templates()] }),
      ];
    }),
    bundle({
      ...common,
      ...to('preact'),
      ...ui('preact'),
      entryPoints: ['entries/preact.tsx'],
      jsx: 'automatic',
      jsxImportSource: 'preact',
    }),
    bundle({
      ...common,
      ...to('solid'),
      ...ui('solid'),
      entryPoints: ['entries/solid.tsx'],
      plugins: [
        babel({ presets: [[require.resolve('babel-preset-solid'), { generate: 'ssr', hydratable: true }]] }),
      ],
    }),
    bundle({
      ...common,
      ...to('inferno'),
      ...ui('inferno'),
      entryPoints: ['entries/inferno.tsx'],
      plugins: [babel({ plugins: [[require.resolve('babel-plugin-inferno'), { imports: true }]] })],
    }),
    bundle({ ...common, ...to('svelte'), entryPoints: ['entries/svelte.ts'], plugins: [svelte()] }),
    bundle({ ...common, ...to('vue'), entryPoints: ['peers/vue.ts'] }),
    bundle({ ...common, ...to('concatenation'), entryPoints: ['peers/concatenation.ts'] }),
    bundle({ ...common, ...to('measure'), entryPoints: ['lib/measure.ts'] }),
    bundle({ ...common, ...to('client'), entryPoints: ['lib/client.ts'] }),
  ]);
}

/** The product's own compiler, as its bundler plugins call it. */
function templates(): Plugin {
  return {
    name: 'sluice-templates',
    setup(on) {
      on.onLoad({ filter: /\.tsx$/ }, async ({ path: file }) => {
        const { compile } = (await import('@sluice/compiler')) as {
          readonly compile: (
            source: string,
            path: string,
            options: object,
          ) => Promise<{ code: string } | undefined>;
        };
        const source = await readFile(file, 'utf8');
        const compiled = await compile(source, file, { reactFrom: folder });
        return { contents: compiled?.code ?? source, loader: 'tsx' };
      });
    },
  };
}

function babel(options: object): Plugin {
  const { transformAsync } = require('@babel/core') as {
    readonly transformAsync: (source: string, options: object) => Promise<{ code: string }>;
  };
  return {
    name: 'babel',
    setup(on) {
      on.onLoad({ filter: /\.tsx$/ }, async ({ path: file }) => {
        // Types go first, with esbuild; Babel sees plain JSX.
        const source = await readFile(file, 'utf8');
        const plain = await on.esbuild.transform(source, {
          loader: 'tsx',
          jsx: 'preserve',
          target: 'es2022',
        });
        const { code } = await transformAsync(plain.code, {
          filename: file,
          babelrc: false,
          configFile: false,
          ...options,
        });
        return { contents: code, loader: 'js' };
      });
    },
  };
}

function svelte(): Plugin {
  const { compile } = require('svelte/compiler') as {
    readonly compile: (source: string, options: object) => { js: { code: string } };
  };
  return {
    name: 'svelte',
    setup(on) {
      on.onLoad({ filter: /\.svelte$/ }, async ({ path: file }) => ({
        contents: compile(await readFile(file, 'utf8'), { generate: 'server', filename: file }).js.code,
        loader: 'js',
      }));
    },
  };
}
