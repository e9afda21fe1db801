// Modules that lead back to themselves through `use crate::…`, by crate of the gateway. What tests alone import does not count.
import fs from 'node:fs';
import path from 'node:path';
import { root } from './repository.ts';

/** Groups of files each of which reaches every other of its group, largest first. */
export function cycles(crate: string): string[][] {
  const src = path.join(root, 'gateway', crate, 'src');
  const files = fs
    .readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.rs'))
    .sort();
  const byModule = new Map(files.map((file) => [moduleOf(file), file]));
  const imports = new Map<string, string[]>();
  for (const file of files) {
    const text = fs.readFileSync(path.join(src, file), 'utf8');
    const of = isTest(file) ? [] : imported(text).map((name) => fileOf(name, byModule));
    imports.set(file, [...new Set(of)].filter((other) => other !== undefined && other !== file) as string[]);
  }
  return groups(imports)
    .filter((group) => group.length > 1)
    .map((group) => group.sort())
    .sort((one, other) => other.length - one.length);
}

const isTest = (file: string): boolean => /(?:^|[/_])tests?\.rs$|(?:^|\/)tests\//.test(file);

function moduleOf(file: string): string {
  return file.replace(/(?:^lib|\/mod)?\.rs$/, '').replaceAll('/', '::');
}

/** The file of the innermost module that a path goes through. */
function fileOf(name: string, byModule: Map<string, string>): string | undefined {
  for (let at = name; at !== ''; at = at.slice(0, Math.max(at.lastIndexOf('::'), 0))) {
    const file = byModule.get(at);
    if (file !== undefined) return file;
  }
  return undefined;
}

/** The paths after `crate::`, with braces resolved. */
function imported(text: string): string[] {
  const body = text.split(/^#\[cfg\(test\)\]\nmod \w+ \{/m)[0] ?? '';
  const names: string[] = [];
  for (const [, tree = ''] of body.matchAll(/^\s*(?:pub(?:\([a-z]+\))? )?use crate::([^;]+);/gm)) {
    names.push(...expanded(tree.replace(/\s+/g, ' ').trim()));
  }
  for (const [, name = ''] of body
    .replace(/^\s*\/\/.*$/gm, '')
    .matchAll(/(?<!use )\bcrate::((?:\w+::)*\w+)/g)) {
    names.push(name);
  }
  return names;
}

function expanded(tree: string): string[] {
  const open = tree.indexOf('{');
  if (open < 0) return [tree.replace(/ as \w+$/, '')];
  const prefix = tree.slice(0, open);
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const c of tree.slice(open + 1, tree.lastIndexOf('}'))) {
    if (c === ',' && depth === 0) {
      parts.push(part);
      part = '';
      continue;
    }
    depth += c === '{' ? 1 : c === '}' ? -1 : 0;
    part += c;
  }
  return [...parts, part]
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .flatMap((one) => expanded(prefix + (one === 'self' ? '' : one)))
    .map((one) => one.replace(/::$/, ''));
}

/** Strongly connected components (Tarjan 1972). */
function groups(imports: Map<string, string[]>): string[][] {
  const found: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const visit = (file: string): number => {
    const own = index.size;
    index.set(file, own);
    low.set(file, own);
    stack.push(file);
    for (const other of imports.get(file) ?? []) {
      const reached = index.has(other)
        ? stack.includes(other)
          ? index.get(other)
          : undefined
        : visit(other);
      low.set(file, Math.min(low.get(file) ?? own, reached ?? own));
    }
    const lowest = low.get(file) ?? own;
    if (lowest === own) found.push(stack.splice(stack.indexOf(file)));
    return lowest;
  };
  for (const file of imports.keys()) if (!index.has(file)) visit(file);
  return found;
}
