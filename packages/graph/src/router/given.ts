/** Values that a client wants to set. They follow the router's references, which the client may not know. */
import type { Envelope, JsonGraph } from '../types.js';
import {
  asJsonGraph,
  branchAt,
  isLeaf,
  isRef,
  newBranch,
  targetOf,
  walk,
  type Branch,
  type Leaf,
} from './graph.js';
import { Merge } from './merge.js';
import { plainKey, type Keys, type PlainKey, type Sets } from './sets.js';

export class Given {
  readonly #values: Branch = newBranch();
  readonly #referencesMax: number;
  readonly #merge: Merge;

  /** Takes the values of the paths from a client's graph. Values that are not JSON Graph are left out. */
  constructor(message: object, paths: readonly Sets[], referencesMax: number, depthMax: number) {
    this.#referencesMax = referencesMax;
    this.#merge = new Merge(depthMax, () => undefined);
    let list = paths;
    for (let followed = 0; list.length > 0 && followed <= referencesMax; followed++) {
      const next: Sets[] = [];
      for (const sets of list) {
        this.#merge.graph(this.#values, message, sets);
        walk(this.#values, sets, {
          asksBranches: false,
          missing: () => undefined,
          through: (ref, _branch, _key, whole, step) => {
            if (ref.value.length + whole.length - step - 1 <= depthMax) next.push(targetOf(ref, whole, step));
          },
        });
      }
      list = next;
    }
  }

  get envelope(): Envelope {
    return { jsonGraph: asJsonGraph(this.#values) };
  }

  /** Values of some paths. */
  valuesOf(sets: Sets): JsonGraph {
    return this.valuesOfAll([sets]);
  }

  valuesOfAll(list: readonly Sets[]): JsonGraph {
    const values = newBranch();
    for (const sets of list) this.#merge.graph(values, this.#values, sets);
    return asJsonGraph(values);
  }

  /** Value of a single path. */
  leafAt(path: readonly PlainKey[]): Leaf | undefined {
    const value = this.#at(path, false);
    return value !== undefined && isLeaf(value) ? value : undefined;
  }

  /** Writes the value of a single path that has one. */
  replace(path: readonly PlainKey[], leaf: Leaf): void {
    const key = path.at(-1);
    const branch = this.#at(path.slice(0, -1), true);
    if (key !== undefined && branch !== undefined && !isLeaf(branch)) branch[key] = leaf;
  }

  /** Moves values below a place to the target of the reference that the router has there. */
  graft(path: readonly PlainKey[], key: PlainKey, target: Sets, suffixLength: number): void {
    const from = this.#at([...path, key], true);
    if (from === undefined || isLeaf(from)) return;
    const { length } = target;
    let to = this.#values;
    for (const step of target.slice(0, length - suffixLength) as PlainKey[]) {
      const next = branchAt(to, step);
      if (next === undefined) return;
      to = next;
    }
    if (to !== from) copy(from, to, target.slice(length - suffixLength), 0);
  }

  /** Value or branch at a path, through references; `isThrough` says whether through one at its end as well. */
  #at(path: readonly PlainKey[], isThrough: boolean): Leaf | Branch | undefined {
    let rest = [...path];
    let value: Leaf | Branch | undefined = this.#values;
    let followed = 0;
    while (rest.length > 0) {
      if (value === undefined || isLeaf(value)) return undefined;
      value = value[rest.shift() as PlainKey];
      if (value !== undefined && isRef(value) && (isThrough || rest.length > 0)) {
        if (++followed > this.#referencesMax) return undefined;
        rest = [...value.value.map(plainKey), ...rest];
        value = this.#values;
      }
    }
    return value;
  }
}

function copy(from: Branch, to: Branch, sets: Sets, step: number): void {
  const keys = sets[step] as Keys;
  for (const key of typeof keys === 'object' ? keys : [keys]) {
    const value = from[key];
    if (value === undefined) continue;
    if (isLeaf(value)) to[key] = value;
    else if (step + 1 < sets.length) {
      let next = to[key];
      if (next === undefined || isLeaf(next)) next = to[key] = newBranch();
      copy(value, next, sets, step + 1);
    }
  }
}
