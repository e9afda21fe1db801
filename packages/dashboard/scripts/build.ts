// Builds the page into one file that needs nothing else: `dist/index.html`, the same compressed, and its policy.
//
// The gateway embeds all three (gateway/admin/build.rs). A page may run only the script and the style that are in it: its
// Content-Security-Policy names them by their hashes. Files are written only where they changed, because cargo builds the
// gateway again after each write.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Script and style of a page, bundled. */
async function bundle(): Promise<{ script: string; style: string }> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['src/main.tsx', 'src/style.css'],
    outdir: 'dist',
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    target: ['es2022'],
    charset: 'utf8',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
  });
  const text = (end: string): string =>
    outputFiles.find((file) => file.path.endsWith(end))?.text.trim() ?? '';
  return { script: text('.js'), style: text('.css') };
}

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

function policyOf(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${style === '' ? "'none'" : hash(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/** Puts `text` in place of a comment such as `<!-- script -->`. */
function fill(html: string, place: string, text: string): string {
  const comment = `<!-- ${place} -->`;
  if (html.split(comment).length !== 2) throw new Error(`the page has to have exactly one ${comment}`);
  return html.replace(comment, () => text);
}

function write(name: string, content: string | Uint8Array): void {
  const file = path.join(root, 'dist', name);
  const bytes = Buffer.from(content);
  if (fs.existsSync(file) && fs.readFileSync(file).equals(bytes)) return;
  fs.writeFileSync(file, bytes);
}

fs.mkdirSync(path.join(root, 'dist'), { recursive: true });
const { script, style } = await bundle();
if (/<\/script/i.test(script) || /<\/style/i.test(style))
  throw new Error('the page would end its own element');
const policy = policyOf(script, style);
let page = fs.readFileSync(path.join(root, 'src/index.html'), 'utf8');
page = fill(page, 'policy', `<meta http-equiv="Content-Security-Policy" content="${policy}" />`);
page = fill(page, 'style', `<style>${style}</style>`);
page = fill(page, 'script', `<script>${script}</script>`);
write('index.html', page);
write('index.html.gz', gzipSync(page, { level: 9 }));
// Only a header can say who may frame the page.
write('index.csp', `${policy}; frame-ancestors 'none'`);
