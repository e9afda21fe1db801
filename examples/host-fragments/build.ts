/** Builds the components and their server for Node into `dist/`, and the code for browsers into `dist/assets/`. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { build, type BuildOptions } from 'esbuild';

const home = import.meta.dirname;
const common: BuildOptions = { absWorkingDir: home, format: 'esm', jsx: 'automatic', logLevel: 'warning' };

const components = readdirSync(path.join(home, 'components')).map((file) => `components/${file}`);
await Promise.all([
  build({
    ...common,
    entryPoints: ['server.ts', ...components],
    outdir: 'dist',
    platform: 'node',
    target: 'node20',
  }),
  build({
    ...common,
    entryPoints: ['client.tsx'],
    // The host's pages load it from Sluice's address: browsers fetch modules from elsewhere only with CORS.
    format: 'iife',
    outdir: 'dist/assets',
    bundle: true,
    minify: true,
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"' },
  }),
]);
