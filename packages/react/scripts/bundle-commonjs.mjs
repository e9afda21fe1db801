// Builds what `require('@sluice/react/…')` gives. One file each, so that calls between modules stay as cheap as they are
// between ES modules. React comes by `require` also where the source imports it later: whoever loads the file decides
// which React that is.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const entry = (name) => fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url));

await build({
  entryPoints: { index: entry('index'), server: entry('server'), template: entry('template') },
  outdir: fileURLToPath(new URL('../dist', import.meta.url)),
  outExtension: { '.js': '.cjs' },
  bundle: true,
  external: ['react', 'react-dom', 'react-dom/*'],
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  supported: { 'dynamic-import': false },
  sourcemap: true,
  logLevel: 'warning',
});
