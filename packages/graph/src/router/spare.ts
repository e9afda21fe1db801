/**
 * Messages of a data source that may have values of later paths, such as those behind the references that it gave. An answer in parts holds
 * only what no path has taken yet.
 */
import { isLeaf, newBranch, type Branch, type Leaf } from './graph.js';
import type { Outputs, Refusing } from './outputs.js';
import { plainKey, type Keys, type Sets } from './sets.js';

export class Spare {
  readonly #outputs: Outputs;
  readonly #isThrifty: boolean;
  #messages: object[] = [];

  /** `isThrifty`: whether taken values are dropped, for which messages are copied. */
  constructor(outputs: Outputs, isThrifty: boolean) {
    this.#outputs = outputs;
    this.#isThrifty = isThrifty;
  }

  /** Holds a message whose values were taken for some paths. */
  add(message: unknown, taken: readonly Sets[]): void {
    if (typeof message !== 'object' || message === null) return;
    const rest = this.#isThrifty ? this.#restOf(message, taken) : message;
    if (rest !== undefined) this.#messages.push(rest);
  }

  /** Writes the values of paths into the graph. Returns whether there was any message. */
  take(paths: readonly Sets[]): boolean {
    const messages = this.#messages;
    for (const message of messages) this.#outputs.graph(message, paths, IGNORING);
    if (this.#isThrifty) {
      this.#messages = [];
      for (const message of messages) this.add(message, paths);
    }
    return messages.length > 0;
  }

  /** Copy of a message without the values of some paths; undefined where nothing is left. */
  #restOf(message: object, taken: readonly Sets[], step = 0): Branch | undefined {
    let rest: Branch | undefined;
    for (const [name, value] of Object.entries(message) as [string, Leaf | Branch | undefined][]) {
      if (name === '$type' || value === undefined) continue;
      const key = plainKey(name);
      const here = taken.filter((sets) => this.#outputs.has(sets[step] as Keys, key));
      const below = here.filter((sets) => sets.length > step + 1);
      // Lists are values where a path ends at them.
      const isValue = isLeaf(value) || (Array.isArray(value) && below.length < here.length);
      if (isValue && here.length > 0) continue;
      const left = isValue || below.length === 0 ? value : this.#restOf(value, below, step + 1);
      if (left !== undefined) (rest ??= newBranch())[key] = left;
    }
    return rest;
  }
}

/** Receiver for messages that were checked when they came. */
const IGNORING: Refusing = { refuse: () => undefined };
