/** Values of a graph that no part of its answer has had yet. It must not know routes. */
import type { Atom } from '../types.js';
import { ABSENT, isLeaf, isRef, newBranch, type Branch } from './graph.js';
import { keysOf, listOf, type Keys, type PlainKey, type Sets } from './sets.js';

/** Value in place of one that was sent. */
const SENT: Atom = Object.freeze({ $type: 'atom', value: null });

/**
 * Moves what a graph has and `sent` has not, for requested paths, into a new graph. In the graph, references stay, absent values as well, and
 * others leave a mark: a request needs no more to know that it has them.
 */
export class Fresh {
  readonly graph: Branch = newBranch();
  readonly sets: Sets[] = [];
  readonly #path: PlainKey[] = [];

  add(from: Branch, sent: Branch, sets: Sets): void {
    this.#step(from, sent, this.graph, sets, 0);
  }

  #step(from: Branch, sent: Branch, to: Branch, sets: Sets, step: number): void {
    const isLast = step === sets.length - 1;
    let found: PlainKey[] | undefined;
    for (const key of listOf(sets[step] as Keys)) {
      const value = from[key];
      if (value === undefined) continue;
      if (isLeaf(value)) {
        if (sent[key] !== true) {
          sent[key] = true;
          to[key] = value;
          (found ??= []).push(key);
        }
        if (value !== ABSENT && !isRef(value)) from[key] = SENT;
      } else if (!isLast) {
        let next = sent[key];
        if (next === undefined || isLeaf(next)) next = sent[key] = newBranch();
        const there = to[key];
        const into = there === undefined || isLeaf(there) ? newBranch() : there;
        const before = this.sets.length;
        this.#path.push(key);
        this.#step(value, next, into, sets, step + 1);
        this.#path.pop();
        if (this.sets.length > before) to[key] = into;
      }
    }
    if (found !== undefined) this.sets.push([...this.#path, keysOf(found)]);
  }
}
