/** Messages of handlers and data sources, copied into the graph of a request. It must not know routes. */
import { branchAt, leafOf, putShort, type Branch } from './graph.js';
import { plainKey, type Keys, type PlainKey, type Sets } from './sets.js';

/** Own value of a key in a message: clients' keys name no property of a prototype. */
function ownValue(message: object, key: PlainKey): unknown {
  const value = (message as Readonly<Record<PlainKey, unknown>>)[key];
  if (value === undefined) return undefined;
  const isSuspect = typeof value === 'function' || key === '__proto__' || key === 'length';
  return isSuspect && (!Object.hasOwn(message, key) || Array.isArray(message)) ? undefined : value;
}

/** Notes of an answer in parts, whose messages have few of many keys each. */
export interface Notes {
  /** Notes the paths that a value was written for. */
  note(path: Sets): void;
  has(keys: Keys, key: PlainKey): boolean;
}

/** Reason why a value was not taken, and its place. */
type Refused = (reason: string, path: readonly PlainKey[]) => void;

/**
 * Copies values of a message into a graph, along requested paths and up to references. Values that are there stay, except that a later value of
 * the same path replaces an earlier one.
 */
export class Merge {
  readonly #depthMax: number;
  readonly #refused: Refused;
  readonly #notes: Notes | undefined;
  readonly #path: PlainKey[] = [];

  constructor(depthMax: number, refused: Refused, notes?: Notes) {
    this.#depthMax = depthMax;
    this.#refused = refused;
    this.#notes = notes;
  }

  graph(branch: Branch, message: object, sets: Sets, step = 0): void {
    const keys = sets[step] as Keys;
    if (typeof keys !== 'object') this.#key(branch, message, keys, sets, step);
    else for (const key of this.#fewOf(keys, message) ?? keys) this.#key(branch, message, key, sets, step);
  }

  /** Keys of a plain message that has few of those asked for; undefined where all are to be tried. */
  #fewOf(keys: readonly PlainKey[], message: object): PlainKey[] | undefined {
    const notes = this.#notes;
    const prototype = notes && (Object.getPrototypeOf(message) as unknown);
    if (notes === undefined || (prototype !== null && prototype !== Object.prototype)) return undefined;
    const names = Object.keys(message);
    if (names.length >= keys.length) return undefined;
    const own = names.filter((name) => name !== '$type').map(plainKey);
    return own.filter((key) => notes.has(keys, key));
  }

  #key(branch: Branch, message: object, key: PlainKey, sets: Sets, step: number): void {
    const value = ownValue(message, key);
    if (value === undefined) return;
    const isLast = step === sets.length - 1;
    const isBranch = typeof value === 'object' && value !== null && !('$type' in value);
    // A branch is no value. A list is one where a value was asked for.
    if (isLast && isBranch && !Array.isArray(value)) return;
    if (isLast || !isBranch) {
      const leaf = leafOf(value, this.#depthMax);
      if (leaf === undefined) {
        this.#refused('The value is not JSON Graph', [...this.#path, key]);
        return;
      }
      // The same value holds for paths below, which may have been asked for as well.
      if (isLast) branch[key] = leaf;
      else putShort(branch, key, leaf, sets, step);
      this.#notes?.note([...this.#path, key, ...sets.slice(step + 1)]);
      return;
    }
    const next = branchAt(branch, key);
    if (next === undefined) return;
    this.#path.push(key);
    this.graph(next, value, sets, step + 1);
    this.#path.pop();
  }
}
