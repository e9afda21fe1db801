/** Walks of a request's graph: to paths without a value through known references, and to gaps that get one. */
import type { Ref } from '../types.js';
import type { Given } from './given.js';
import { fillKeys, targetOf, walk, type Branch, type Leaf, type Visitor } from './graph.js';
import { joined, type Keys, type PlainKey, type Sets } from './sets.js';

/** Receiver of references that lead too far. */
export interface Broken {
  broken(branch: Branch, key: PlainKey, path: readonly PlainKey[]): void;
}

/** Search for paths without a value, through references that are known. */
export class Search implements Visitor {
  // A path that is asked as a value may have become a branch on behalf of others.
  readonly asksBranches = true;
  readonly #referencesMax: number;
  readonly #given: Given | undefined;
  readonly #broken: Broken;
  readonly #targets: Sets[] | undefined;
  readonly #missing: Sets[] = [];
  #next: Sets[] = [];
  #followed = 0;

  /** Paths behind references are added to `targets` where it is given, and searched otherwise. */
  constructor(referencesMax: number, given: Given | undefined, broken: Broken, targets?: Sets[]) {
    this.#referencesMax = referencesMax;
    this.#given = given;
    this.#broken = broken;
    this.#targets = targets;
  }

  /** Paths without a value. */
  of(graph: Branch, paths: Sets[]): Sets[] {
    let list = joined(paths);
    for (; list.length > 0; this.#followed++) {
      this.#next = [];
      for (const sets of list) walk(graph, sets, this);
      list = joined(this.#next);
    }
    return joined(this.#missing);
  }

  missing(_branch: Branch, keys: Keys, sets: Sets, step: number, path: readonly PlainKey[]): void {
    if (step === 0 && keys === sets[0]) this.#missing.push(sets);
    else this.#missing.push([...path, keys, ...sets.slice(step + 1)]);
  }

  through(
    ref: Ref,
    branch: Branch,
    key: PlainKey,
    sets: Sets,
    step: number,
    path: readonly PlainKey[],
  ): void {
    const target = targetOf(ref, sets, step);
    if (this.#targets !== undefined) this.#targets.push(target);
    else if (this.#followed >= this.#referencesMax) this.#broken.broken(branch, key, path);
    else {
      this.#given?.graft(path, key, target, sets.length - step - 1);
      this.#next.push(target);
    }
  }
}

/** Writes a value wherever paths have none. */
export class Filling implements Visitor {
  readonly asksBranches = false;
  readonly #leaf: Leaf;

  constructor(leaf: Leaf) {
    this.#leaf = leaf;
  }

  missing(branch: Branch, keys: Keys, sets: Sets, step: number): void {
    fillKeys(branch, keys, sets, step, this.#leaf);
  }

  through(): void {
    // The target has values of its own.
  }
}
