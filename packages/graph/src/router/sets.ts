/**
 * Path sets as the router computes with them: every step is one key or a list of different keys, and canonical integers are numbers.
 * Their number is bounded before any of them is expanded. It must not know routes or graphs.
 */
import { collapsePaths } from '../paths/index.js';
import type { Key, KeySet, PathSet, Range } from '../types.js';
import { routeError } from './errors.js';

/** Key of one step: a safe integer, or text that is none. */
export type PlainKey = string | number;
/** One key, or two or more different ones. */
export type Keys = PlainKey | readonly PlainKey[];
/** Path set without ranges. */
export type Sets = readonly Keys[];

/** Bounds of what one request may ask. */
export interface SetLimits {
  /** Bounds the paths of a request after expansion. A path counts once for each 10 steps. */
  readonly pathsMax: number;
  /** Bounds the steps of a path. */
  readonly depthMax: number;
  /** Bounds the path sets that are left when equal ones are united. */
  readonly callsMax: number;
}

/** Steps of a path that count as one path: deep paths make larger answers. */
const COUNTED_STEPS = 10;
/** Bounds the steps whose keys `joined` tries to unite: more than that only hostile requests have. */
const JOINED_STEPS_MAX = 8;
/** Bounds the sets that are compared in pairs; more are merged as a tree. */
const PAIRS_MAX = 8;

/** Returns a key as the router compares it. Throws where it is no key. */
export function plainKey(key: unknown): PlainKey {
  if (typeof key === 'number') return Number.isSafeInteger(key) ? key + 0 : String(key);
  if (typeof key === 'string') {
    // It would make a branch look like a value.
    if (key === '$type') throw routeError('SLU-GRAPH-INVALID', 'No key is named $type');
    return integerOf(key) ?? key;
  }
  if (typeof key === 'boolean' || key === null) return String(key);
  throw routeError('SLU-GRAPH-INVALID', 'A key must be text, a number, a boolean or null');
}

/** Integer that a text is the canonical form of. */
function integerOf(text: string): number | undefined {
  const { length } = text;
  if (length === 0 || length > 16) return undefined;
  const first = text.charCodeAt(0);
  if (first !== 45 && (first < 48 || first > 57)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) && String(value) === text ? value : undefined;
}

/**
 * Returns path sets in the router's form, each path once. Throws a `RouteError` where one is malformed, too deep, or where
 * all together have too many paths; ranges are counted for that, and not expanded.
 */
export function plainSets(paths: unknown, limits: SetLimits): Sets[] {
  if (!Array.isArray(paths)) throw routeError('SLU-GRAPH-INVALID', 'Paths must be a list of path sets');
  const { pathsMax, callsMax: setsMax } = limits;
  const wanted: PathSet[] = [];
  let total = 0;
  for (const path of paths as unknown[]) {
    const count = pathCount(path, limits);
    if (count === 0) continue;
    total += count * Math.ceil((path as PathSet).length / COUNTED_STEPS);
    if (total > pathsMax) {
      throw routeError('SLU-GRAPH-PATHS', `The request has more than ${pathsMax} paths`);
    }
    wanted.push(path as PathSet);
  }
  const sets = joined(wanted.map((path) => path.map(plainKeys)));
  if (sets.length > setsMax) throw routeError('SLU-GRAPH-CALLS', `The paths make more than ${setsMax} sets`);
  return sets;
}

/** Number of single paths of the steps from `from` to before `to`. */
export function countSets(sets: Sets, from = 0, to = sets.length): number {
  let count = 1;
  for (let step = from; step < to; step++) {
    const keys = sets[step] as Keys;
    if (typeof keys === 'object') count *= keys.length;
  }
  return count;
}

/** Number of paths in a path set. May be more than an integer can hold exactly, or infinite. */
function pathCount(path: unknown, { depthMax }: SetLimits): number {
  if (!Array.isArray(path) || path.length === 0)
    throw routeError('SLU-GRAPH-INVALID', 'A path set must be a list of at least one key set');
  if (path.length > depthMax)
    throw routeError('SLU-GRAPH-DEPTH', `A path has ${path.length} steps; ${depthMax} are allowed`);
  let count = 1;
  let isEmpty = false;
  for (const keySet of path as unknown[]) {
    let size = 1;
    if (Array.isArray(keySet)) {
      size = 0;
      for (const one of keySet as unknown[]) {
        if (Array.isArray(one)) throw routeError('SLU-GRAPH-INVALID', 'A key set has lists inside a list');
        size += sizeOf(one);
      }
    } else size = sizeOf(keySet);
    isEmpty ||= size === 0;
    count *= size;
  }
  return isEmpty ? 0 : count;
}

function sizeOf(key: unknown): number {
  if (typeof key !== 'object' || key === null) {
    plainKey(key);
    return 1;
  }
  const [from, to] = boundsOf(key);
  return Math.max(0, to - from + 1);
}

function boundsOf({ from = 0, to, length }: Range): [from: number, to: number] {
  const last = to ?? (length === undefined ? undefined : from + length - 1);
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(last))
    throw routeError(
      'SLU-GRAPH-INVALID',
      'A range must have integers as `from` and `to`, or `from` and `length`',
    );
  return [from, last as number];
}

/** Expands a key set whose size has been counted. */
export function plainKeys(keySet: KeySet): Keys {
  if (typeof keySet !== 'object' || keySet === null) return plainKey(keySet);
  const keys: PlainKey[] = [];
  for (const one of Array.isArray(keySet) ? (keySet as readonly (Key | Range)[]) : [keySet as Range]) {
    if (typeof one !== 'object' || one === null) keys.push(plainKey(one));
    else {
      const [from, to] = boundsOf(one);
      for (let key = from; key <= to; key++) keys.push(key);
    }
  }
  return keysOf(keys);
}

/** Drops repeated keys. The list is the function's to keep, and not empty. */
export function keysOf(keys: readonly PlainKey[]): Keys {
  if (keys.length === 1) return keys[0] as PlainKey;
  const unique = new Set(keys);
  if (unique.size === 1) return keys[0] as PlainKey;
  return unique.size === keys.length ? keys : [...unique];
}

export function listOf(keys: Keys): readonly PlainKey[] {
  return typeof keys === 'object' ? keys : [keys];
}

/** Path sets in the form that JSON has. Runs of integers become ranges. */
export function pathSetOf(sets: Sets): PathSet {
  return sets.map((keys) => (typeof keys === 'object' ? withRanges(keys) : keys));
}

function withRanges(keys: readonly PlainKey[]): KeySet {
  const list: (Key | Range)[] = [];
  for (const range of rangesOf(keys)) list.push(range.from === range.to ? range.from : range);
  for (const key of keys) if (typeof key === 'string') list.push(key);
  return list.length === 1 ? (list[0] as KeySet) : list;
}

/** Integers among the keys as ranges in order. */
export function rangesOf(keys: readonly PlainKey[]): { from: number; to: number }[] {
  const ranges: { from: number; to: number }[] = [];
  const integers = keys.filter((key) => typeof key === 'number').sort((one, other) => one - other);
  for (const key of integers) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to + 1 === key) last.to = key;
    else ranges.push({ from: key, to: key });
  }
  return ranges;
}

/** Returns the same paths in fewer sets, each path once. */
export function joined(list: Sets[]): Sets[] {
  if (list.length < 2) return list;
  const byLength = new Map<number, Sets[]>();
  for (const sets of list) {
    const same = byLength.get(sets.length);
    if (same === undefined) byLength.set(sets.length, [sets]);
    else same.push(sets);
  }
  const all: Sets[] = [];
  for (const [length, same] of byLength) {
    const united = unite(same, length);
    // Single paths were compared by uniting them.
    if (united.length === 1 || united.every(isSingle)) for (const sets of united) all.push(sets);
    else if (united.length <= PAIRS_MAX) all.push(...apart(united));
    else for (const sets of collapsePaths(united)) all.push(sets.map(plainKeys));
  }
  return all;
}

function isSingle(sets: Sets): boolean {
  return sets.every((keys) => typeof keys !== 'object');
}

/** Unites sets that differ in one step only. */
function unite(list: Sets[], length: number): Sets[] {
  const different: number[] = [];
  for (let step = length - 1; step >= 0; step--) if (!isSameAt(list, step)) different.push(step);
  const [only] = different;
  if (only === undefined) return [list[0] as Sets];
  if (different.length === 1) return [merged(list, only)];
  let sets = list;
  const tokens = new Map<Keys, string>();
  let tried = 0;
  for (const step of different) {
    if (sets.length === 1 || isSameAt(sets, step)) continue;
    if (++tried > JOINED_STEPS_MAX) break;
    sets = uniteAt(sets, step, tokens);
  }
  return sets;
}

function isSameAt(list: readonly Sets[], step: number): boolean {
  const first = (list[0] as Sets)[step];
  return list.every((sets) => sets[step] === first);
}

function uniteAt(list: Sets[], step: number, tokens: Map<Keys, string>): Sets[] {
  const groups = new Map<string, Sets[]>();
  for (const sets of list) {
    let others = '';
    for (let at = 0; at < sets.length; at++) {
      if (at !== step) others += tokenOf(sets[at] as Keys, tokens);
    }
    const group = groups.get(others);
    if (group === undefined) groups.set(others, [sets]);
    else group.push(sets);
  }
  if (groups.size === list.length) return list;
  return Array.from(groups.values(), (group) =>
    group.length === 1 ? (group[0] as Sets) : merged(group, step),
  );
}

/** One set for sets that are equal but for a step. */
function merged(group: readonly Sets[], step: number): Sets {
  const keys: PlainKey[] = [];
  for (const sets of group) {
    const own = sets[step] as Keys;
    if (typeof own === 'object') for (const key of own) keys.push(key);
    else keys.push(own);
  }
  const whole = [...(group[0] as Sets)];
  whole[step] = keysOf(keys);
  return whole;
}

/** Text that equal key sets have alike, and no others. */
function tokenOf(keys: Keys, tokens: Map<Keys, string>): string {
  if (typeof keys === 'number') return `${keys};`;
  if (typeof keys === 'string') return `${keys.length}:${keys};`;
  let token = tokens.get(keys);
  if (token === undefined) {
    const sorted = keys.map((key) => (typeof key === 'number' ? `${key};` : `${key.length}:${key};`)).sort();
    token = `[${sorted.join('')}]`;
    tokens.set(keys, token);
  }
  return token;
}

/** Takes out of each set the paths that an earlier one has. */
function apart(list: Sets[]): Sets[] {
  const all: Sets[] = [];
  for (const sets of list) {
    let rest: Sets[] = [sets];
    for (const earlier of all) {
      if (rest.length === 0) break;
      rest = rest.flatMap((one) => split(one, earlier)?.[1] ?? [one]);
    }
    all.push(...rest);
  }
  return all;
}

/**
 * Splits a set at a region, whose steps apply to the set's first ones: the part inside, and the parts outside. Undefined where they have no
 * path in common.
 */
export function split(sets: Sets, region: Sets): [inside: Sets, outside: Sets[]] | undefined {
  for (let step = 0; step < region.length; step++) {
    const own = sets[step] as Keys;
    const others = region[step] as Keys;
    if (own !== others && typeof own !== 'object' && typeof others !== 'object') return undefined;
  }
  const inside = [...sets];
  const outside: Sets[] = [];
  for (let step = 0; step < region.length; step++) {
    const own = sets[step] as Keys;
    const others = region[step] as Keys;
    if (own === others) continue;
    const [common, rest] = parted(own, others);
    if (common === undefined) return undefined;
    inside[step] = common;
    if (rest !== undefined) {
      const piece = inside.slice(0, step);
      piece.push(rest, ...sets.slice(step + 1));
      outside.push(piece);
    }
  }
  return [inside, outside];
}

/** Keys that are among others, and those that are not. */
function parted(keys: Keys, others: Keys): [common: Keys | undefined, rest: Keys | undefined] {
  if (typeof keys !== 'object') {
    return (typeof others === 'object' ? others.includes(keys) : others === keys)
      ? [keys, undefined]
      : [undefined, keys];
  }
  const among = new Set(listOf(others));
  const common: PlainKey[] = [];
  const rest: PlainKey[] = [];
  for (const key of keys) (among.has(key) ? common : rest).push(key);
  if (common.length === 0) return [undefined, keys];
  return rest.length === 0 ? [keys, undefined] : [keysOf(common), keysOf(rest)];
}

/** Whether two sets have paths whose first `length` steps are the same. */
export function overlaps(one: Sets, other: Sets, length: number): boolean {
  for (let step = 0; step < length; step++) {
    const keys = one[step] as Keys;
    const others = other[step] as Keys;
    if (keys !== others && parted(keys, others)[0] === undefined) return false;
  }
  return true;
}
