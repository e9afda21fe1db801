/**
 * One file of styles, compiled by itself: names of CSS Modules replaced, imports and addresses absolute. It must not know what
 * else is on a page.
 */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { transform, type CSSModuleExports } from 'lightningcss';

/** The same in `@sluice/browser/vite`: names come from the file's path below the project's root, and from nothing else. */
export const MODULES_PATTERN = '[hash]_[local]';
const EXTERNAL = /^(?:https?:)?\/\//;

export interface FilesOptions {
  /** Absolute path of the project. */
  readonly root: string;
  /** URL of a file that styles name by a relative path. Default: its path below the root, as Vite's development server has it. */
  readonly assetUrl?: (file: string) => string;
}

export interface StyleFile {
  readonly file: string;
  /** What is bundled: names replaced, imports absolute. */
  readonly css: string;
  /** Absolute paths of the files that it imports or composes from, in order. */
  readonly imports: readonly string[];
  /** Of its own content. */
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
  const imports = composedFiles(exports, file);
  // They have to come before everything else, and before the file's own imports nothing depends on them.
  css = imports.map((needed) => `@import ${cssString(needed)};\n`).join('') + css;
  for (const dependency of result.dependencies ?? []) {
    if (dependency.type !== 'import' && dependency.type !== 'url') continue;
    const { type, url, placeholder } = dependency;
    let becomes = url;
    if (type === 'import' && !EXTERNAL.test(url)) {
      becomes = resolveImport(url, file);
      imports.push(becomes);
    } else if (type === 'url' && isRelative(url)) {
      const asset = path.resolve(path.dirname(file), decodeURI(url.replace(/[?#].*$/, '')));
      becomes =
        assetUrl?.(asset) ??
        `/${path.relative(root, asset).split(path.sep).map(encodeURIComponent).join('/')}`;
    }
    css = css.replaceAll(`"${placeholder}"`, cssString(becomes));
  }
  const warnings = result.warnings.map(({ message, loc }) => `${loc.filename}:${loc.line}: ${message}`);
  const hash = createHash('sha256').update(css).digest('base64url');
  return { style: { file, css, imports, hash, warnings }, exports };
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

/** A string of CSS: control characters, quotes and backslashes escaped (CSS Syntax 3 §4.3.7). */
function cssString(text: string): string {
  const inner = text.replaceAll(
    /["\\\p{Cc}]/gu,
    (character) => `\\${character.codePointAt(0)?.toString(16) ?? ''} `,
  );
  return `"${inner}"`;
}
