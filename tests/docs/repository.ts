// The repository as the documentation tests see it: its files, and Markdown taken apart just far enough.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

const SKIPPED = new Set([
  '.git',
  'node_modules',
  'target',
  'dist',
  'coverage',
  '.next',
  '.output',
  'results',
]);

/** Every text file that belongs to the repository, relative to its root. Git is asked first, as it knows what is ignored. */
export function files(): string[] {
  try {
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 64 * 1024 * 1024,
    });
    const found = listed.split('\0').filter((file) => file !== '' && exists(file));
    if (found.length > 0) return [...new Set(found)];
  } catch {
    // An archive without .git, or a machine without git: the folders are walked instead.
  }
  return walk('');
}

function walk(folder: string): string[] {
  return fs.readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : walk(file);
    return entry.isFile() ? [file] : [];
  });
}

export function read(file: string): string {
  return fs.readFileSync(path.join(root, file), 'utf8');
}

export function exists(file: string): boolean {
  return fs.existsSync(path.join(root, file));
}

/** What `make` can be asked for. */
export function makeTargets(): Set<string> {
  return new Set([...read('Makefile').matchAll(/^([a-z][\w-]*):/gm)].map(([, name]) => name ?? ''));
}

/** README, ARCHITECTURE and the like, and everything under docs/. */
export function pages(): string[] {
  return files().filter((file) => /^[A-Z]+\.md$/.test(file) || /^docs\/.*\.md$/.test(file));
}

/** The page without its fenced blocks, in which nothing is a link or a citation. */
export function prose(markdown: string): string {
  return markdown.replace(/^```[^\n]*\n[\s\S]*?^```[^\S\n]*$/gm, '');
}

/** The contents of fenced blocks of these languages. */
export function fenced(markdown: string, ...languages: string[]): string[] {
  const blocks = markdown.matchAll(/^```([^\n]*)\n([\s\S]*?)^```[^\S\n]*$/gm);
  return [...blocks]
    .filter(([, language]) => languages.includes(language ?? ''))
    .map(([, , text]) => text ?? '');
}

export interface Link {
  readonly path: string;
  readonly anchor: string;
}

/** Links to files of the repository; the path is relative to the page, empty for the page itself. */
export function links(markdown: string): Link[] {
  const targets = [...prose(markdown).matchAll(/\]\(([^()\s]+)\)/g)].map(([, target]) => target ?? '');
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#');
      return { path: file, anchor };
    });
}

/** The anchors of a page's headings, made as forges make them. */
export function anchors(markdown: string): Set<string> {
  const headings = [...prose(markdown).matchAll(/^#{1,6}\s+(.+?)\s*$/gm)].map(([, text]) => text ?? '');
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/\s/g, '-'),
    ),
  );
}

export interface Citation {
  readonly path: string;
  /** A symbol, or the name of a test; none where only the path is cited. */
  readonly name: string | undefined;
}

const FOLDERS = /^(?:gateway|packages|tests|docs|examples|bench)(?:\/|$)/;

/** Code spans of the form `path` and `path::name`, for paths that start with one of the repository's folders. */
export function citations(markdown: string): Citation[] {
  const spans = [...prose(markdown).matchAll(/`([^`\n]+)`/g)].map(([, span]) => span ?? '');
  return spans
    .filter((span) => FOLDERS.test(span) && !/[*<>{}$…]/.test(span.split('::')[0] ?? ''))
    .map((span) => {
      const at = span.indexOf('::');
      return at < 0 ? { path: span, name: undefined } : { path: span.slice(0, at), name: span.slice(at + 2) };
    });
}

/** Whether the file declares the symbol, or has a test of this name. */
export function declares(file: string, name: string): boolean {
  const text = read(file);
  if (isTest(file) && hasTest(file, name)) return true;
  if (!/^\w+$/.test(name)) return false;
  const rust = `\\b(?:fn|struct|enum|trait|const|static|type|mod|union)\\s+${name}\\b`;
  const typescript = `\\b(?:function|class|interface|const|let|type|enum)\\s+${name}\\b|^\\s*(?:async\\s+|static\\s+)*#?${name}\\(`;
  return new RegExp(file.endsWith('.rs') ? rust : typescript, 'm').test(text);
}

export function isTest(file: string): boolean {
  return file.endsWith('.test.ts') || file.endsWith('.rs');
}

/** Rust: a function under an attribute `test` (or within `proptest!`). TypeScript: a title given to `test`. */
export function hasTest(file: string, name: string): boolean {
  const text = read(file);
  if (file.endsWith('.rs')) {
    return new RegExp(
      `#\\[(?:tokio::)?test[^\\]]*\\](?:\\s*(?:#\\[[^\\]]*\\]|///[^\\n]*))*\\s*(?:async\\s+)?fn\\s+${name}\\b`,
    ).test(text);
  }
  const titles = [...text.matchAll(/\btest\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g)].map(
    ([, , title]) => title ?? '',
  );
  // A title may have a part that the test fills in, such as `I3: ${how} lets …`.
  return titles.some((title) => title === name || (title.includes('${') && title.includes(name)));
}
