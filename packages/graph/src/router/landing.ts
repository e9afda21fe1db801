/** Ends of a batch's paths after its last call: values, nothing, or references at which paths continue. It must not know calls. */
import type { Ref } from '../types.js';
import type { Batch } from './batch.js';
import type { Shared } from './core.js';
import {
  ABSENT,
  breakLoop,
  fillKeys,
  targetOf,
  walk,
  type Branch,
  type Leaf,
  type Visitor,
} from './graph.js';
import type { Broken } from './search.js';
import { countSets, type Keys, type PlainKey, type Sets } from './sets.js';

export class Landing<Data> implements Visitor, Broken {
  readonly asksBranches = false;
  readonly #shared: Shared<Data>;
  #batch: Batch<Data> | undefined;
  #level = 0;
  #next: Sets[] = [];

  constructor(shared: Shared<Data>) {
    this.#shared = shared;
  }

  /** Gives no value to paths that have none, and adds those behind references to `next`. `level`: level of the batch, from 1. */
  land(batch: Batch<Data>, level: number, next: Sets[]): void {
    this.#batch = batch;
    this.#level = level;
    this.#next = next;
    for (const piece of batch.pieces) walk(this.#shared.graph, piece, this);
  }

  /** Paths that a handler gave nothing for. */
  missing(branch: Branch, keys: Keys, sets: Sets, step: number): void {
    if (this.#batch !== undefined) {
      const { route, method } = this.#batch;
      const count = countSets([keys]) * countSets(sets, step + 1, route?.steps.length);
      this.#shared.core.journal.unanswered(route, method, count);
    }
    fillKeys(branch, keys, sets, step, ABSENT);
  }

  through(
    ref: Ref,
    branch: Branch,
    key: PlainKey,
    sets: Sets,
    step: number,
    path: readonly PlainKey[],
  ): void {
    const { core, given } = this.#shared;
    const { referencesMax, depthMax } = core.limits;
    const isDeep = ref.value.length + sets.length - step - 1 > depthMax;
    if (this.#level > referencesMax || isDeep) {
      this.broken(branch, key, path);
      return;
    }
    const target = targetOf(ref, sets, step);
    given?.graft(path, key, target, sets.length - step - 1);
    this.#next.push(target);
  }

  /** Replaces a reference by an error. */
  broken(branch: Branch, key: PlainKey, path: readonly PlainKey[]): void {
    breakLoop(branch, key);
    this.#shared.emitter?.replaced([...path, key], branch[key] as Leaf);
  }
}
