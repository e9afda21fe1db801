/** One file of styles from many, minified, each of them once. It must not know components. */
import path from 'node:path';
import type { Targets } from 'lightningcss';
import { cssString } from './css-string.js';
import type { StyleFile } from './transform.js';

const EXTERNAL = /^(?:https?:)?\/\//;

/**
 * Styles in the order of `files`, each after what it imports. A file that several import is where the first needs it: by CSS
 * it would be where the last does, and a component would look different beside another one. Runs on threads of lightningcss.
 */
export async function compileSet(
  files: readonly string[],
  get: (file: string) => StyleFile | undefined,
  root: string,
  targets: Targets | undefined,
): Promise<string> {
  const { bundleAsync } = await import('lightningcss');
  const filename = path.join(root, '.sluice-set.css');
  const texts = new Map<string, string>();
  const external = new Set<string>();
  const entry = entryOf(files, { get, texts, external, suffix: '', above: new Set() });
  // An import is one only before all else.
  texts.set(filename, [...external, entry].join('\n'));
  const { code } = await bundleAsync({
    filename,
    projectRoot: root,
    minify: true,
    errorRecovery: true,
    ...(targets === undefined ? {} : { targets }),
    resolver: {
      read: (file) => texts.get(file) ?? '',
      resolve: (specifier) => (EXTERNAL.test(specifier) ? { external: specifier } : specifier),
    },
  });
  return Buffer.from(code).toString('utf8');
}

interface Within {
  readonly get: (file: string) => StyleFile | undefined;
  /** Texts that the bundler reads, by path. */
  readonly texts: Map<string, string>;
  readonly external: Set<string>;
  /** Tells files under a condition from those without, as the bundler takes each path once. */
  readonly suffix: string;
  /** Files whose conditional imports lead here: those that lead back are left out. */
  readonly above: ReadonlySet<string>;
}

/** Imports of the files and all that they need. Imports under a condition have an entry of their own. */
function entryOf(files: readonly string[], within: Within): string {
  const { get, texts, external, suffix, above } = within;
  const lines: string[] = [];
  const seen = new Set<string>();
  const visit = (file: string): void => {
    const style = get(file);
    if (seen.has(file) || style === undefined) return;
    seen.add(file);
    for (const rule of style.external) external.add(rule);
    for (const { file: needed, condition } of style.imports) {
      if (condition === '') visit(needed);
      else if (!above.has(needed)) {
        const entry = `${needed}?${texts.size}`;
        texts.set(entry, ''); // Its place is taken before others are made within it.
        const inner = { ...within, suffix: `?in${texts.size}`, above: new Set([...above, needed]) };
        texts.set(entry, entryOf([needed], inner));
        lines.push(`@import ${cssString(entry)} ${condition};`);
      }
    }
    texts.set(file + suffix, style.css);
    lines.push(`@import ${cssString(file + suffix)};`);
  };
  for (const file of files) visit(file);
  return lines.join('\n');
}
