/** Patterns of paths, in bounded number: what tells thousands of paths in a few rows. It must not know who counts. */
import { countKeys, isList, isRange } from '../paths/index.js';
import type { GraphValue, JsonGraph, Key, KeySet, PathSet, Range } from '../types.js';

/** Bounds the keys of routes that patterns name, over all routers of the process, and their length. */
const NAMES_MAX = 2_000;
const NAME_CHARACTERS_MAX = 64;
const DEPTH_MAX = 16;

/** Key at which copies of this package keep the names of routes: the page and its router may each have one. */
const NAMES = Symbol.for('sluice.graph.names.1');

/** Keys that routes name. Others may be data of users, and are told as `{keys}`. */
const names: Set<string> = ((globalThis as { [NAMES]?: Set<string> })[NAMES] ??= new Set());

const INTEGER = /^-?\d{1,16}$/u;
const SIMPLE = /^[A-Za-z_$][\w$]*$/u;

/** Lets patterns name the keys of a route. */
export function nameKeys(keys: readonly (string | number)[]): void {
  for (const key of keys)
    if (typeof key === 'string' && key.length <= NAME_CHARACTERS_MAX && names.size < NAMES_MAX)
      names.add(key);
}

/** Number of steps of patterns that may be in memory for one kind of asker. */
class Room {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  take(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }
}

/** Room of the paths of pages, which the app writes. */
const PAGES = new Room(1_800);
/** Room of the paths of clients, who may ask for anything: pages have their own. */
export const CLIENTS = new Room(200);

/** Pattern of a path: one object for each. */
export class Pattern {
  readonly text: string;
  readonly #depth: number;
  readonly #steps = new Map<string, Pattern>();

  constructor(text: string, depth: number) {
    this.text = text;
    this.#depth = depth;
  }

  /** Pattern of this path and one more key. `other` where it is new, and there is no more room. */
  step(key: Key, room: Room): Pattern {
    const name = typeof key === 'number' ? INTEGERS : nameOf(String(key));
    const known = this.#steps.get(name);
    if (known !== undefined) return known;
    if (this === OTHER || this.#depth >= DEPTH_MAX || !room.take()) return OTHER;
    const step = new Pattern(this.#textWith(name), this.#depth + 1);
    this.#steps.set(name, step);
    return step;
  }

  #textWith(name: string): string {
    if (name === INTEGERS || name === KEYS) return `${this.text}[${name}]`;
    if (!SIMPLE.test(name)) return `${this.text}[${JSON.stringify(name)}]`;
    return this.text === '' ? name : `${this.text}.${name}`;
  }
}

const INTEGERS = '{integers}';
const KEYS = '{keys}';
const OTHER = new Pattern('other', 0);
const ROOT = new Pattern('', 0);

function nameOf(key: string): string {
  if (INTEGER.test(key)) return INTEGERS;
  return names.has(key) ? key : KEYS;
}

/** Calls `visit` with the patterns of a path set, and the number of its single paths of each. Ranges are counted, not expanded. */
export function eachPattern(
  pathSet: PathSet,
  visit: (pattern: Pattern, count: number) => void,
  room: Room = PAGES,
): void {
  step(room, ROOT, pathSet, 0, 1, visit);
}

function step(
  room: Room,
  pattern: Pattern,
  pathSet: PathSet,
  depth: number,
  count: number,
  visit: (pattern: Pattern, count: number) => void,
): void {
  if (depth === pathSet.length) {
    visit(pattern, count);
    return;
  }
  for (const [next, keys] of stepsOf(room, pattern, pathSet[depth] as KeySet))
    step(room, next, pathSet, depth + 1, count * keys, visit);
}

function stepsOf(room: Room, pattern: Pattern, keySet: KeySet): Iterable<readonly [Pattern, number]> {
  if (!isList(keySet)) return [along(room, pattern, keySet)];
  const steps = new Map<Pattern, number>();
  for (const part of keySet) {
    const [next, count] = along(room, pattern, part);
    steps.set(next, (steps.get(next) ?? 0) + count);
  }
  return steps;
}

/** A null ends a path at a reference, whose pattern it has. */
function along(room: Room, pattern: Pattern, key: Key | Range): readonly [Pattern, number] {
  if (isRange(key)) return [pattern.step(0, room), countKeys(key)];
  return [key === null ? pattern : pattern.step(key, room), 1];
}

/**
 * Calls `visit` for each value of a graph, references and errors too, with its pattern and whether each of the other graphs has a value or branch
 * at its place.
 */
export function eachValue(
  graph: JsonGraph,
  others: readonly JsonGraph[],
  visit: (pattern: Pattern, has: readonly boolean[]) => void,
): void {
  branch(ROOT, graph, others, 0, visit);
}

type Node = JsonGraph | GraphValue;

function branch(
  pattern: Pattern,
  node: JsonGraph,
  others: readonly Node[],
  depth: number,
  visit: (pattern: Pattern, has: readonly boolean[]) => void,
): void {
  // Deeper than any path may be.
  if (depth > 256) return;
  for (const key of Object.keys(node)) {
    const value = node[key];
    if (value === undefined) continue;
    const next = pattern.step(key, PAGES);
    const there = others.map((other) =>
      isBranch(other) && Object.hasOwn(other, key) ? other[key] : undefined,
    );
    if (isBranch(value)) branch(next, value, there, depth + 1, visit);
    else
      visit(
        next,
        there.map((other) => other !== undefined),
      );
  }
}

function isBranch(node: Node): node is JsonGraph {
  return typeof node === 'object' && node !== null && !('$type' in node && typeof node.$type === 'string');
}
