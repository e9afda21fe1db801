/**
 * The graph that a request's answer is made of: values are written where paths were requested, references cut paths, and absent values
 * become atoms without a value. Keys come from clients, so no object of it has a prototype with properties. It must not know routes.
 */
import { isKey } from '../paths/index.js';
import type { Atom, GraphValue, JsonGraph, Ref } from '../types.js';
import { errorLeaf } from './errors.js';
import { keysOf, listOf, plainKey, type Keys, type PlainKey, type Sets } from './sets.js';

/** Branch of a graph. */
export interface Branch {
  [key: PlainKey]: Leaf | Branch | undefined;
}
export type Leaf = Exclude<GraphValue, undefined>;

// An object of a constructor has properties of fixed places, which one made by `Object.create(null)` has not.
// Its prototype has nothing, so `__proto__` and `constructor` are keys like others.
const NewBranch = function (this: Branch) {} as unknown as new () => Branch;
NewBranch.prototype = Object.create(null) as object;

export function newBranch(): Branch {
  return new NewBranch();
}

/** Value of paths that have none. */
export const ABSENT: Atom = Object.freeze({ $type: 'atom' });

const LOOP = errorLeaf('SLU-GRAPH-REFERENCES', 'References exceed the limit');

export function isLeaf(value: Leaf | Branch): value is Leaf {
  return typeof value !== 'object' || value === null || value['$type'] !== undefined;
}

export function isRef(value: Leaf | Branch): value is Ref {
  return typeof value === 'object' && value !== null && value['$type'] === 'ref';
}

/** Paths that continue at the target of a reference. */
export function targetOf(ref: Ref, sets: Sets, step: number): Sets {
  const target: Keys[] = ref.value.map(plainKey);
  return target.concat(sets.slice(step + 1));
}

/** Places that a walk comes to. */
export interface Visitor {
  /** Whether a path that ends at a branch counts as one without a value. */
  readonly asksBranches: boolean;
  /** Called with keys that have no value; `sets` are the paths, and their steps before `step` are in `path`. */
  missing(branch: Branch, keys: Keys, sets: Sets, step: number, path: readonly PlainKey[]): void;
  /** Called for a reference that paths go through. */
  through(ref: Ref, branch: Branch, key: PlainKey, sets: Sets, step: number, path: readonly PlainKey[]): void;
}

/** Walks requested paths to their values, references and gaps. */
export function walk(root: Branch, sets: Sets, visitor: Visitor): void {
  walkStep(root, sets, 0, [], visitor);
}

function walkStep(branch: Branch, sets: Sets, step: number, path: PlainKey[], visitor: Visitor): void {
  const keys = sets[step] as Keys;
  if (typeof keys !== 'object') {
    if (walkKey(branch, keys, sets, step, path, visitor)) visitor.missing(branch, keys, sets, step, path);
    return;
  }
  let missing: PlainKey[] | undefined;
  for (const key of keys) {
    if (walkKey(branch, key, sets, step, path, visitor)) (missing ??= []).push(key);
  }
  if (missing === undefined) return;
  visitor.missing(branch, missing.length === keys.length ? keys : keysOf(missing), sets, step, path);
}

/** Whether the key has no value. */
function walkKey(
  branch: Branch,
  key: PlainKey,
  sets: Sets,
  step: number,
  path: PlainKey[],
  visitor: Visitor,
): boolean {
  const value = branch[key];
  if (value === undefined) return true;
  if (step === sets.length - 1) return visitor.asksBranches && !isLeaf(value);
  // The client asked for this place as a value as well, and there is none.
  if (value === ABSENT) return true;
  if (isLeaf(value)) {
    if (isRef(value)) visitor.through(value, branch, key, sets, step, path);
    return false;
  }
  path.push(key);
  walkStep(value, sets, step + 1, path, visitor);
  path.pop();
  return false;
}

/** Writes a value for every path that has none; values of a part of a path stay. */
export function fill(branch: Branch, sets: Sets, step: number, value: Leaf, replaces = false): void {
  fillKeys(branch, sets[step] as Keys, sets, step, value, replaces);
}

/** The same for some keys of the step. A value that holds for paths below as well replaces their branch. */
export function fillKeys(
  branch: Branch,
  keys: Keys,
  sets: Sets,
  step: number,
  value: Leaf,
  replaces = false,
): void {
  const isLast = step === sets.length - 1;
  for (const key of listOf(keys)) {
    const before = branch[key];
    if (isLast) {
      if (before === undefined || (replaces && !isLeaf(before))) branch[key] = value;
    } else if (before === undefined || before === ABSENT) {
      const next = newBranch();
      branch[key] = next;
      fill(next, sets, step + 1, value, replaces);
    } else if (!isLeaf(before)) fill(before, sets, step + 1, value, replaces);
  }
}

/** Replaces a reference that closes a loop, or leads too far. */
export function breakLoop(branch: Branch, key: PlainKey): void {
  branch[key] = LOOP;
}

/**
 * Value as it stands in a graph: objects without `$type` become atoms. Undefined for values that JSON has not, and for references that are no
 * path.
 */
export function leafOf(value: unknown, depthMax: number): Leaf | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'undefined':
      return ABSENT;
    case 'object':
      break;
    case 'bigint':
    case 'function':
    case 'symbol':
      return undefined;
  }
  if (value === null) return null;
  const type = (value as { readonly $type?: unknown }).$type;
  if (type === 'ref') return isPath((value as Ref).value, depthMax) ? (value as Ref) : undefined;
  return type === undefined ? { $type: 'atom', value } : (value as Atom);
}

function isPath(value: unknown, depthMax: number): boolean {
  if (!Array.isArray(value) || value.length === 0 || value.length > depthMax) return false;
  return value.every((key) => isKey(key) && key !== '$type');
}

/** Branch at a key, which is made where nothing is; undefined where a value is. */
export function branchAt(branch: Branch, key: PlainKey): Branch | undefined {
  const before = branch[key];
  if (before === undefined || before === ABSENT) return (branch[key] = newBranch());
  return isLeaf(before) ? undefined : before;
}

/**
 * Writes the value of a part of a path. References stand there; all others go to the whole paths, so that paths of other routes are not cut
 * short.
 */
export function putShort(branch: Branch, key: PlainKey, leaf: Leaf, sets: Sets, step: number): void {
  const before = branch[key];
  if (isRef(leaf)) {
    if (before === undefined || isLeaf(before)) branch[key] = leaf;
    return;
  }
  if (before !== undefined && before !== ABSENT && isLeaf(before)) return;
  fillKeys(branch, key, sets, step, leaf, true);
}

export function asJsonGraph(branch: Branch): JsonGraph {
  return branch;
}
