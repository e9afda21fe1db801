// Files of a crate of the gateway that lead back to themselves: by `crate::`, `super::`, `self::`, a child's name, and through every `pub use`.
import fs from 'node:fs';
import path from 'node:path';
import { root } from './repository.ts';

/** Modules of a crate by their paths: `` is the crate itself, `upstream::driver` a file of it. */
interface Module {
  readonly file: string;
  /** Names that a `pub use` gives to items of other modules; `*` for all of one. */
  readonly given: readonly Use[];
  readonly uses: readonly string[];
}

/** Name in this module, and the path that it stands for, from the crate. */
interface Use {
  readonly name: string;
  readonly path: string;
}

/** Groups of files each of which reaches every other of its group, largest first. A `pub use` counts for where the item is. */
export function cycles(crate: string): string[][] {
  return groups(importsOf(crate))
    .filter((group) => group.length > 1)
    .map((group) => group.sort())
    .sort((one, other) => other.length - one.length);
}

/** Files that each file of a crate imports. What tests alone import does not count. */
export function importsOf(crate: string): Map<string, string[]> {
  const src = path.join(root, 'gateway', crate, 'src');
  const files = filesOf(crate);
  const known = new Set(files.map(moduleOf));
  const modules = new Map<string, Module>();
  for (const file of files) {
    const own = moduleOf(file);
    const text = codeOf(fs.readFileSync(path.join(src, file), 'utf8'));
    modules.set(own, { file, ...read(text, own, known) });
  }
  const imports = new Map<string, string[]>();
  for (const [own, { file, uses }] of modules) {
    const others = uses.map((use) => definedIn(use, modules)).filter((module) => module !== undefined);
    const reached = others
      .filter((module) => module !== own)
      .map((module) => modules.get(module)?.file ?? '');
    imports.set(file, [...new Set(reached)]);
  }
  return imports;
}

/** Source files of a crate, from its `src`, without those of tests. */
export function filesOf(crate: string): string[] {
  return fs
    .readdirSync(path.join(root, 'gateway', crate, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.rs') && !isTest(file))
    .sort();
}

const isTest = (file: string): boolean => /(?:^|[/_])tests?\.rs$|(?:^|\/)tests\//.test(file);

function moduleOf(file: string): string {
  return file.replace(/(?:^lib|^main|\/mod)?\.rs$/, '').replaceAll('/', '::');
}

/** Text without comments and without the tests at its end. */
export function codeOf(text: string): string {
  const body = text.split(/^#\[cfg\(test\)\]\nmod \w+ \{/m)[0] ?? '';
  return body.replace(/\/\/.*$/gm, '');
}

function read(text: string, own: string, known: ReadonlySet<string>): Pick<Module, 'given' | 'uses'> {
  const given: Use[] = [];
  const uses: string[] = [];
  for (const [, visible, tree = ''] of text.matchAll(/^\s*(pub(?:\([a-z ]+\))? )?use ([^;]+);/gm)) {
    for (const part of expanded(tree.replace(/\s+/g, ' ').trim())) {
      const [written = '', name] = part.split(' as ');
      const whole = absolute(written, own, known);
      if (whole === undefined) continue;
      if (visible === undefined) uses.push(whole);
      else given.push({ name: name ?? written.slice(written.lastIndexOf(':') + 1), path: whole });
    }
  }
  const rest = text.replace(/^\s*(?:pub(?:\([a-z ]+\))? )?use [^;]+;/gm, '');
  for (const [written] of rest.matchAll(/(?<![\w:])(?:\w+::)+\w+/g)) {
    const whole = absolute(written, own, known);
    if (whole !== undefined) uses.push(whole);
  }
  return { given, uses };
}

/** The path from the crate; undefined for what is another crate's, or a name that was imported before. */
function absolute(written: string, own: string, known: ReadonlySet<string>): string | undefined {
  const steps = written.split('::');
  let at = own === '' ? [] : own.split('::');
  const [first = ''] = steps;
  if (first === 'crate') {
    at = [];
    steps.shift();
  } else if (first === 'self') steps.shift();
  else if (first === 'super') {
    while (steps[0] === 'super') {
      at = at.slice(0, -1);
      steps.shift();
    }
  } else if (!known.has([...at, first].join('::'))) return undefined;
  return [...at, ...steps].join('::');
}

/** Module whose file defines the item at this path, through every `pub use` on the way. */
function definedIn(whole: string, modules: ReadonlyMap<string, Module>, depth = 0): string | undefined {
  const steps = whole === '' ? [] : whole.split('::');
  let at = '';
  for (const [index, step] of steps.entries()) {
    const inner = at === '' ? step : `${at}::${step}`;
    if (modules.has(inner)) {
      at = inner;
      continue;
    }
    if (depth > 8) return at;
    const rest = steps.slice(index + 1);
    const { given = [] } = modules.get(at) ?? {};
    const named = given.find(({ name }) => name === step);
    if (named !== undefined) return definedIn([named.path, ...rest].join('::'), modules, depth + 1);
    for (const { name, path: from } of given) {
      if (name !== '*') continue;
      const all = definedIn(from.replace(/::\*$/, ''), modules, depth + 1);
      if (all !== undefined && defines(all, step, modules)) return all;
    }
    return at;
  }
  return at;
}

/** Whether a module that gives all its names has one of its own or of others by this name. */
function defines(module: string, name: string, modules: ReadonlyMap<string, Module>): boolean {
  const { given = [] } = modules.get(module) ?? {};
  return given.some((use) => use.name === name) || modules.has(`${module}::${name}`);
}

function expanded(tree: string): string[] {
  const open = tree.indexOf('{');
  if (open < 0) return [tree];
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
