// Builds the page into one file that needs nothing else: `dist/flame.html`. `sluice profile` puts its data into it.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: ['src/main.ts', 'src/style.css'],
  outdir: 'dist',
  bundle: true,
  write: false,
  minify: true,
  format: 'iife',
  target: ['es2022'],
  charset: 'utf8',
  logLevel: 'warning',
});
const text = (end: string): string => outputFiles.find((file) => file.path.endsWith(end))?.text.trim() ?? '';
// The page asks nobody for anything.
const policy =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const page = fs
  .readFileSync(`${root}/src/index.html`, 'utf8')
  .replace('<!-- policy -->', () => `<meta http-equiv="Content-Security-Policy" content="${policy}" />`)
  .replace('<!-- style -->', () => `<style>${text('.css')}</style>`)
  .replace('<!-- script -->', () => `<script>${text('.js')}</script>`);
fs.mkdirSync(`${root}/dist`, { recursive: true });
fs.writeFileSync(`${root}/dist/flame.html`, page);
