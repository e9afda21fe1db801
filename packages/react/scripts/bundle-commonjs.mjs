// Builds what `require('@sluice/react/…')` gives. One file each, so that calls between modules stay as cheap as they are
// between ES modules. React comes by `require` also where the source imports it later: whoever loads the file decides
// which React that is.
import { readFile, writeFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const names = ['index', 'lines', 'server', 'template'];
const inDist = (file) => fileURLToPath(new URL(`../dist/${file}`, import.meta.url));

await build({
  entryPoints: Object.fromEntries(names.map((name) => [name, inDist(`${name}.js`)])),
  outdir: inDist(''),
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

// TypeScript refuses the types of an ES module to whoever requires it, so that each file of types that one of the entries
// leads to is there a second time, as a CommonJS module.
const declared = new Set(names);
for (const name of declared) {
  const types = await readFile(inDist(`${name}.d.ts`), 'utf8');
  const required = types.replaceAll(/(['"])(\.\.?\/[\w./-]+)\.js\1/g, (_all, quote, other) => {
    declared.add(posix.join(posix.dirname(name), other));
    return `${quote}${other}.cjs${quote}`;
  });
  await writeFile(inDist(`${name}.d.cts`), required);
}
