// Builds a page into one file that needs nothing else: script and style stand in it. The flame graph and the dashboard use it.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { type BuildOptions, build } from 'esbuild';

export interface Page {
  /** The whole page. */
  readonly html: string;
  /** Its Content-Security-Policy: no script, style or address but its own. */
  readonly policy: string;
}

interface Recipe {
  /** Directory of the package, with `src/index.html` and `src/style.css` in it. */
  readonly root: string;
  /** The script's source, from `root`. */
  readonly entry: string;
  /** Further directives of the policy, such as `connect-src 'self'`. */
  readonly allows?: readonly string[];
  readonly options?: BuildOptions;
}

/** `src/index.html` with bundled script and style, and with a policy that names both by their hashes. */
export async function buildPage({ root, entry, allows = [], options = {} }: Recipe): Promise<Page> {
  const { script, style } = await bundle(root, entry, options);
  if (/<\/script/i.test(script) || /<\/style/i.test(style))
    throw new Error('the page would end its own element');
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    ...allows,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  let html = fs.readFileSync(path.join(root, 'src/index.html'), 'utf8');
  html = fill(html, 'policy', `<meta http-equiv="Content-Security-Policy" content="${policy}" />`);
  html = fill(html, 'style', `<style>${style}</style>`);
  html = fill(html, 'script', `<script>${script}</script>`);
  return { html, policy };
}

/** Writes a file of `dist` where it changed: cargo builds the gateway again after each write. */
export function write(root: string, name: string, content: string | Uint8Array): void {
  const file = path.join(root, 'dist', name);
  const bytes = Buffer.from(content);
  if (fs.existsSync(file) && fs.readFileSync(file).equals(bytes)) return;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, bytes);
}

async function bundle(
  root: string,
  entry: string,
  options: BuildOptions,
): Promise<{ script: string; style: string }> {
  const { outputFiles = [] } = await build({
    absWorkingDir: root,
    entryPoints: [entry, 'src/style.css'],
    outdir: 'dist',
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    target: ['es2022'],
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    ...options,
  });
  const text = (end: string): string =>
    outputFiles.find((file) => file.path.endsWith(end))?.text.trim() ?? '';
  return { script: text('.js'), style: text('.css') };
}

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Puts `text` in place of a comment such as `<!-- script -->`. */
function fill(html: string, place: string, text: string): string {
  const comment = `<!-- ${place} -->`;
  if (html.split(comment).length !== 2) throw new Error(`the page has to have exactly one ${comment}`);
  return html.replace(comment, () => text);
}
