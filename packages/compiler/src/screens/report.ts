/** The report of a build: what each pass did, what it left, and why; and stacks of wrappers with what they copy. */
import { writeFileSync } from 'node:fs';

export type Pass =
  'elements' | 'spreads' | 'merges' | 'inline' | 'styles' | 'updates' | 'blocks' | 'comparisons';

export const PASSES: readonly Pass[] = [
  'elements',
  'spreads',
  'merges',
  'inline',
  'styles',
  'updates',
  'blocks',
  'comparisons',
];

export interface Line {
  readonly pass: Pass;
  /** Line, from 1; 0 where an earlier build step made the code. */
  readonly line: number;
  /** Column, from 1. */
  readonly column: number;
  readonly done: boolean;
  /** Element or component. */
  readonly name: string;
  readonly reason: string;
}

/** A component's element that gets the component's own props by a spread. */
export interface Wrapping {
  readonly from: string;
  readonly to: string;
  readonly line: number;
  /** Names of attributes beside the spread. */
  readonly own: readonly string[];
  /** Whether the compiled code copies the props here. */
  readonly copies: boolean;
}

/** An element without spread: where props begin. */
export interface Use {
  readonly to: string;
  readonly props: readonly string[];
}

export interface FileReport {
  readonly file: string;
  readonly lines: readonly Line[];
  readonly wrappings: readonly Wrapping[];
  readonly uses: readonly Use[];
}

export interface Stack {
  /** Components from the outermost one to the one that spreads its props no further. */
  readonly components: readonly string[];
  readonly props: number;
  /** Props copied at one update of the outermost one: as written, and as compiled. */
  readonly copies: number;
  readonly compiledCopies: number;
  readonly advice: string;
}

export interface Report {
  readonly files: readonly FileReport[];
  /** The most expensive first. */
  readonly stacks: readonly Stack[];
}

/** Components of the same name count as one across files: a report names places to look at, and decides nothing. */
export function reportOf(files: readonly FileReport[]): Report {
  const wrappings = files.flatMap((file) => file.wrappings);
  const inner = new Set(wrappings.map(({ to }) => to));
  const byOuter = new Map<string, Wrapping[]>();
  for (const wrapping of wrappings) {
    const all = byOuter.get(wrapping.from);
    if (all === undefined) byOuter.set(wrapping.from, [wrapping]);
    else all.push(wrapping);
  }
  const uses = new Map<string, Set<string>>();
  for (const { to, props } of files.flatMap((file) => file.uses)) {
    const names = uses.get(to) ?? new Set();
    for (const name of props) names.add(name);
    uses.set(to, names);
  }
  // A cycle has no outermost component; any of it begins.
  const outermost = [...byOuter.keys()].filter((name) => !inner.has(name));
  const begins = outermost.length > 0 ? outermost : [...byOuter.keys()].slice(0, 1);
  const stacks = begins.map((name) =>
    stackOf(longest(name, byOuter, new Set()), uses.get(name) ?? new Set()),
  );
  return { files, stacks: stacks.sort((a, b) => b.copies - a.copies) };
}

function longest(
  from: string,
  byOuter: ReadonlyMap<string, readonly Wrapping[]>,
  seen: ReadonlySet<string>,
): readonly Wrapping[] {
  let best: readonly Wrapping[] = [];
  const within = new Set([...seen, from]);
  for (const wrapping of byOuter.get(from) ?? []) {
    if (within.has(wrapping.to)) continue;
    const rest = [wrapping, ...longest(wrapping.to, byOuter, within)];
    if (rest.length > best.length) best = rest;
  }
  return best;
}

function stackOf(wrappings: readonly Wrapping[], given: ReadonlySet<string>): Stack {
  const names = new Set(given);
  let copies = 0;
  let compiledCopies = wrappings.length > 0 ? names.size : 0;
  for (const { own, copies: isCopied } of wrappings) {
    for (const name of own) names.add(name);
    copies += names.size;
    if (isCopied) compiledCopies += names.size;
  }
  const components = wrappings.flatMap(({ from, to }, index) => (index === 0 ? [from, to] : [to]));
  return {
    components,
    props: names.size,
    copies,
    compiledCopies: Math.min(copies, compiledCopies),
    advice: adviceFor(components.length, names.size, wrappings),
  };
}

function adviceFor(depth: number, props: number, wrappings: readonly Wrapping[]): string {
  const copied = wrappings.filter(({ copies }) => copies).map(({ from, to }) => `${from} to ${to}`);
  const parts: string[] = [];
  if (copied.length > 0) parts.push(`see why the spread is still a copy from ${list(copied)}`);
  if (props >= 8 && depth > 2) parts.push('pass related props under one name, as one object');
  return parts.length === 0 ? 'nothing: only the first copy is left' : parts.join('; ');
}

const list = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');

/** `worst`: how many stacks are named. */
export function textOf({ files, stacks }: Report, worst = 5): string {
  const lines: string[] = [];
  for (const { file, lines: all } of files) {
    lines.push(file);
    for (const pass of PASSES) {
      const own = all.filter((line) => line.pass === pass);
      if (own.length === 0) continue;
      lines.push(`  ${pass}: ${own.filter(({ done }) => done).length} of ${own.length}`);
      for (const { line, column, name, done, reason } of own) {
        if (!done) lines.push(`    ${line}:${column} ${name}: not done, because ${reason}`);
      }
    }
  }
  return [...lines, ...stackLines(stacks.slice(0, worst))].join('\n');
}

export function stackLines(stacks: readonly Stack[]): string[] {
  return stacks.map(
    ({ components, props, copies, compiledCopies, advice }) =>
      `${components.length} components copy ${props} props: ${copies} copies per update as written, ${compiledCopies} as compiled (${shortened(components)}). Improvements: ${advice}.`,
  );
}

const shortened = (components: readonly string[]): string =>
  components.length > 8
    ? [...components.slice(0, 4), '…', ...components.slice(-3)].join(' > ')
    : components.join(' > ');

/** Writes `report.json` and, beside it, the text form. */
export function writeReport(path: string, report: Report): void {
  writeFileSync(path, `${JSON.stringify(report, undefined, 2)}\n`);
  writeFileSync(path.replace(/(?:\.json)?$/, '.txt'), `${textOf(report)}\n`);
}
