// Graphs that are there as a whole, and the plain way to read them: one path after the other.
import type { DataSource, Envelope, JsonGraph, PathSet } from '../../src/types.js';
import { expandPaths } from '../../src/paths/index.js';

export type Value = string | number | boolean | null | Sentinel;
interface Sentinel {
  readonly $type: string;
  readonly value?: unknown;
}
export interface Tree {
  [key: string]: Value | Tree;
}
export type Path = readonly (string | number)[];

export const LOOP = 'loop';
export const ABSENT = undefined;

export function isValue(value: unknown): value is Value {
  return typeof value !== 'object' || value === null || '$type' in value;
}

export function isRef(value: unknown): value is { readonly $type: 'ref'; readonly value: Path } {
  return typeof value === 'object' && value !== null && (value as Sentinel).$type === 'ref';
}

/** Value of a path in a graph, through references. */
export function read(graph: unknown, path: Path, referencesMax = 100): unknown {
  let value: unknown = graph;
  let rest = [...path];
  let followed = 0;
  while (rest.length > 0) {
    const key = String(rest.shift());
    value = Object.hasOwn(value as object, key) ? (value as Tree)[key] : undefined;
    if (value === undefined) return ABSENT;
    if (rest.length > 0 && isRef(value)) {
      if (++followed > referencesMax || rest.length > 500) return LOOP;
      rest = [...value.value, ...rest];
      value = graph;
    } else if (isValue(value)) return isAbsent(value) ? ABSENT : value;
  }
  return isValue(value) ? value : ABSENT;
}

function isAbsent(value: Value): boolean {
  return typeof value === 'object' && value?.$type === 'atom' && value.value === undefined;
}

/** First value on a path, and its place; undefined where there is none, or a branch. */
export function firstOn(
  graph: unknown,
  path: Path,
): { readonly path: Path; readonly value: unknown } | undefined {
  let value: unknown = graph;
  for (let step = 0; step < path.length; step++) {
    const key = String(path[step]);
    value = Object.hasOwn(value as object, key) ? (value as Tree)[key] : undefined;
    if (value === undefined) return undefined;
    if (isValue(value)) return { path: path.slice(0, step + 1), value };
  }
  return { path, value };
}

/** Single paths of path sets. */
export function singles(paths: readonly PathSet[]): Path[] {
  return [...expandPaths(paths)] as unknown as Path[];
}

/** Data source that answers from a whole graph. */
export function sourceOf(graph: unknown, asked: PathSet[] = []): DataSource {
  return {
    get: async (paths) => {
      asked.push(...paths);
      const answer = empty();
      for (const path of singles(paths)) copy(graph, answer, path);
      return { jsonGraph: answer as unknown as JsonGraph };
    },
  };
}

/** Copies a path's value with the references on its way. */
function copy(graph: unknown, answer: Tree, path: Path, followed = 0): void {
  const found = firstOn(graph, path);
  if (found === undefined || !isValue(found.value)) return;
  let branch = answer;
  for (const key of found.path.slice(0, -1)) {
    const next = (branch[String(key)] ??= empty());
    if (isValue(next)) return;
    branch = next;
  }
  branch[String(found.path.at(-1))] = found.value;
  const rest = path.slice(found.path.length);
  if (isRef(found.value) && rest.length > 0 && followed < 20)
    copy(graph, answer, [...found.value.value, ...rest], followed + 1);
}

/** Graph as it arrives over a wire. */
export function sent(envelope: Envelope): unknown {
  return (JSON.parse(JSON.stringify(envelope)) as Envelope).jsonGraph;
}

/** Object without a prototype. */
export function empty(): Tree {
  return Object.create(null) as Tree;
}

/** Adds the values of a part to a graph. */
export function merge(into: Tree, part: unknown): void {
  for (const [key, value] of Object.entries(part as Tree)) {
    const before = into[key];
    if (isValue(value)) into[key] = value;
    else {
      const branch = before === undefined || isValue(before) ? (into[key] = empty()) : before;
      merge(branch, value);
    }
  }
}
