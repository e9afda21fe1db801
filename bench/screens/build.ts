// Bundles of what is compared, one script for each, as a device would get it: one file, minified, production builds.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import zlib from 'node:zlib';

const dir = import.meta.dirname;
const root = path.join(dir, '../..');
const out = path.join(dir, '.build');
const require = createRequire(path.join(dir, 'package.json'));

/** Parts of a peer's bundle. */
interface Recipe {
  /** Module with `mount`. */
  readonly app: string;
  /** Module with `takeBatch`. */
  readonly batch: string;
  readonly alias: Readonly<Record<string, string>>;
  /** Compiler of the JSX. */
  readonly jsx: 'react' | 'solid' | 'lightning' | 'screens';
}

const file = (name: string): string => path.join(dir, 'apps', name);
const ours = (name: string): string => path.join(root, 'packages/screens/src', name);
const widgetName = { widget: file('widget-name.js') };
const screens = {
  '@sluice/screens': ours('index.ts'),
  '@sluice/screens/runtime': ours('runtime.ts'),
  ...widgetName,
};
const areas = { ...screens, './view.jsx': file('view-areas.jsx') };
const plain = { batch: file('host.js') };

export const RECIPES: Readonly<Record<string, Recipe>> = {
  'screens-areas': { app: file('sluice.jsx'), batch: file('sluice.jsx'), alias: areas, jsx: 'screens' },
  'screens-compiled': { app: file('sluice.jsx'), batch: file('sluice.jsx'), alias: screens, jsx: 'screens' },
  screens: { app: file('sluice.jsx'), batch: file('sluice.jsx'), alias: screens, jsx: 'react' },
  'react-reconciler': { app: file('react.jsx'), batch: plain.batch, alias: widgetName, jsx: 'react' },
  preact: {
    app: file('preact.jsx'),
    batch: plain.batch,
    alias: { ...widgetName, react: 'preact/compat', 'react/jsx-runtime': 'preact/jsx-runtime' },
    jsx: 'react',
  },
  solid: { app: file('solid.jsx'), batch: plain.batch, alias: {}, jsx: 'solid' },
  lightning: { app: file('lightning.jsx'), batch: plain.batch, alias: {}, jsx: 'lightning' },
};

/** A bundle: its files, and its bytes after gzip. */
export interface Bundle {
  /** Takes times. */
  readonly script: string;
  /** Takes memory. */
  readonly memory: string;
  readonly gzipBytes: number;
}

type Esbuild = typeof import('esbuild');
type Babel = typeof import('@babel/core');

/** Builds the bundles of a peer. */
export async function build(name: string): Promise<Bundle> {
  const script = await buildEntry(name, 'run.js', name);
  const memory = await buildEntry(name, 'memory.js', `${name}-memory`);
  return { script, memory, gzipBytes: zlib.gzipSync(fs.readFileSync(script), { level: 9 }).length };
}

/** Builds a module of `apps` with a peer, and returns the file. */
async function buildEntry(name: string, entry: string, to: string): Promise<string> {
  const recipe = RECIPES[name];
  if (recipe === undefined)
    throw new Error(`no such peer: ${name}; there are ${Object.keys(RECIPES).join(', ')}`);
  const esbuild = require('esbuild') as Esbuild;
  const babel = require('@babel/core') as Babel;
  const plugins: (string | [string, object])[] = [];
  const presets: (string | [string, object])[] = [];
  if (recipe.jsx === 'solid' || recipe.jsx === 'lightning') {
    const moduleName = recipe.jsx === 'solid' ? file('solid-host.js') : '@lightningtv/solid';
    presets.push([require.resolve('babel-preset-solid'), { generate: 'universal', moduleName }]);
  } else if (recipe.jsx === 'screens') {
    const compiler = (await import(
      pathToFileURL(path.join(root, 'packages/compiler/src/screens/index.ts')).href
    )) as { default: object };
    plugins.push([compiler.default as unknown as string, {}]);
  }
  const script = path.join(out, `${to}.js`);
  await esbuild.build({
    entryPoints: [file(entry)],
    outfile: script,
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    jsx: 'automatic',
    absWorkingDir: dir,
    nodePaths: [path.join(dir, 'node_modules')],
    conditions: ['production', 'browser'],
    define: { 'process.env.NODE_ENV': '"production"', 'import.meta.env': '{}' },
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [
      {
        name: 'peer',
        setup(to) {
          to.onResolve({ filter: /^(app|batch)$/ }, ({ path: of }) => ({
            path: of === 'app' ? recipe.app : recipe.batch,
          }));
          to.onResolve({ filter: /^@lightningjs\/renderer$/ }, () => ({
            path: file('lightning-renderer.js'),
          }));
          to.onResolve({ filter: /./ }, async ({ path: of, resolveDir, kind, pluginData }) => {
            const other = recipe.alias[of];
            if (other === undefined || pluginData === 'alias') {
              // One React for all: the packages' sources would take the one at the root.
              if (/^(react|react\/.*|preact.*)$/.test(of) && resolveDir !== dir && pluginData !== 'alias')
                return to.resolve(of, { resolveDir: dir, kind, pluginData: 'alias' });
              return undefined;
            }
            if (path.isAbsolute(other)) return { path: other };
            return to.resolve(other, { resolveDir: dir, kind, pluginData: 'alias' });
          });
          to.onLoad({ filter: /\.jsx$/ }, async ({ path: of }) => {
            const text = await fs.promises.readFile(of, 'utf8');
            // The compiler knows the widget by where it comes from.
            const source =
              recipe.jsx === 'screens' ? text.replace("from 'widget'", "from '@sluice/screens'") : text;
            if (presets.length === 0 && plugins.length === 0) return { contents: source, loader: 'jsx' };
            const compiled = await babel.transformAsync(source, {
              filename: of,
              presets,
              plugins,
              babelrc: false,
              configFile: false,
              parserOpts: { plugins: ['jsx'] },
            });
            return { contents: compiled?.code ?? '', loader: 'jsx' };
          });
        },
      },
    ],
  });
  // Shells of engines lack some of what libraries look for.
  const shim = [
    'globalThis.self??=globalThis;globalThis.window??=globalThis;globalThis.process??={env:{}};',
    'globalThis.setTimeout??=()=>0;globalThis.clearTimeout??=()=>{};globalThis.console??={log:print,error:print,warn:print};',
    'globalThis.performance??={now:Date.now};globalThis.queueMicrotask??=(run)=>Promise.resolve().then(run);\n',
  ].join('');
  fs.writeFileSync(script, shim + fs.readFileSync(script, 'utf8'));
  return script;
}
