/**
 * One file of styles, compiled by itself: names of CSS Modules replaced, imports and addresses absolute. It must not know what
 * else is on a page.
 */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { transform, type CSSModuleExports } from 'lightningcss';
import { cssString } from './css-string.js';

/** The same in `@sluice/browser/vite`: names come from the file's path below the project's root, and from nothing else. */
export const MODULES_PATTERN = '[hash]_[local]';
const EXTERNAL = /^(?:https?:)?\/\//;

export interface FilesOptions {
  /** Absolute path of the project. */
  readonly root: string;
  /** URL of a file that styles name by a relative path. Default: its path below the root, as Vite's development server has it. */
  readonly assetUrl?: (file: string) => string;
}

export interface StyleImport {
  /** Absolute. */
  readonly file: string;
  /** Layer, `supports()` and media query as they are written; empty for none. */
  readonly condition: string;
}

export interface StyleFile {
  readonly file: string;
  /** Rules of the file, without what it imports: names replaced, addresses absolute. */
  readonly css: string;
  /** Files before its rules, in order: those that it imports or composes from. */
  readonly imports: readonly StyleImport[];
  /** Import rules for files of other servers. Rules of styles may not come before them. */
  readonly external: readonly string[];
  /** Hash of its own content. */
  readonly hash: string;
  readonly warnings: readonly string[];
}

export function compileFile(
  file: string,
  code: Uint8Array,
  { root, assetUrl }: FilesOptions,
): { style: StyleFile; exports: CSSModuleExports } {
  const isModule = file.endsWith('.module.css');
  const result = transform({
    filename: file,
    code,
    projectRoot: root,
    ...(isModule ? { cssModules: { pattern: MODULES_PATTERN } } : {}),
    analyzeDependencies: { preserveImports: true },
    errorRecovery: true,
  });
  const exports = result.exports ?? {};
  let css = Buffer.from(result.code).toString('utf8');
  const imports: StyleImport[] = composedFiles(exports, file).map((needed) => ({
    file: needed,
    condition: '',
  }));
  const external: string[] = [];
  for (const dependency of result.dependencies ?? []) {
    if (dependency.type === 'import') {
      const { rest, condition } = withoutImport(css, dependency.placeholder);
      const isExternal = EXTERNAL.test(dependency.url);
      if (!isExternal) imports.push({ file: resolveImport(dependency.url, file), condition });
      if (isExternal) external.push(`@import ${cssString(dependency.url)} ${condition};`);
      css = rest;
    } else if (dependency.type === 'url') {
      const address = isRelative(dependency.url)
        ? addressOf(dependency.url, file, root, assetUrl)
        : dependency.url;
      css = css.replaceAll(`"${dependency.placeholder}"`, cssString(address));
    }
  }
  const warnings = result.warnings.map(({ message, loc }) => `${loc.filename}:${loc.line}: ${message}`);
  const hash = createHash('sha256')
    .update(JSON.stringify([external, imports.map(({ condition }) => condition)]))
    .update(css)
    .digest('base64url');
  return { style: { file, css, imports, external, hash, warnings }, exports };
}

/** Removes the import. The rule has to be there, as lightningcss wrote it a moment ago. */
function withoutImport(css: string, placeholder: string): { rest: string; condition: string } {
  const start = `@import "${placeholder}"`;
  const from = css.indexOf(start);
  const end = css.indexOf(';', from);
  if (from === -1 || end === -1) throw new Error(`no import ${placeholder}`);
  const condition = css.slice(from + start.length, end).trim();
  return { rest: css.slice(0, from) + css.slice(end + 1), condition };
}

function addressOf(url: string, file: string, root: string, assetUrl: FilesOptions['assetUrl']): string {
  const asset = path.resolve(path.dirname(file), decodeURI(url.replace(/[?#].*$/, '')));
  return (
    assetUrl?.(asset) ?? `/${path.relative(root, asset).split(path.sep).map(encodeURIComponent).join('/')}`
  );
}

function composedFiles(exports: CSSModuleExports, file: string): string[] {
  const found = new Set<string>();
  for (const { composes } of Object.values(exports)) {
    for (const reference of composes) {
      if (reference.type === 'dependency') found.add(resolveImport(reference.specifier, file));
    }
  }
  // The order of `exports` is a hash map's.
  return [...found].sort();
}

/** `./a.css` and `a.css` are files beside the importing one; a name that is none there is a package's. */
export function resolveImport(specifier: string, from: string): string {
  if (path.isAbsolute(specifier)) return specifier;
  const beside = path.resolve(path.dirname(from), specifier);
  if (specifier.startsWith('.')) return beside;
  try {
    return createRequire(pathToFileURL(from)).resolve(specifier);
  } catch {
    return beside;
  }
}

function isRelative(url: string): boolean {
  return !/^(?:[a-z][a-z\d+.-]*:|\/|#)/i.test(url);
}
