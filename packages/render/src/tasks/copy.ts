/** Copies of values that several components are given: what one of them changes is its own. It must not know props. */
import { isLeaf, STATE_DEPTH_MAX, TYPE_KEY } from '../state/serialize.js';

/** Originals that are looked for one by one; a `Map` costs more than that for most props. */
const FEW = 12;

/**
 * A copy of data in depth: arrays, plain objects, Date, Map, Set and URL. Instances of other classes, functions and elements of React
 * are shared. An object that is there twice is there twice in the copy; keys named `__proto__` are left out, as they are in the
 * browser's state.
 */
export function copyOf<T>(value: T, isFrozen = false): T {
  return new Copier(isFrozen).copy(value);
}

/** Copies one value, and sees on the way whether it is JSON. */
export class Copier {
  readonly #isFrozen: boolean;
  readonly #originals: object[] = [];
  readonly #copies: object[] = [];
  #map: Map<object, object> | undefined;
  #depth = 0;
  #isJson = true;

  constructor(isFrozen = false) {
    this.#isFrozen = isFrozen;
  }

  /** Whether `JSON.stringify` writes the value as `serialize` does: without values that JSON does not know. */
  get isJson(): boolean {
    return this.#isJson;
  }

  copy<T>(value: T): T {
    return this.#any(value) as T;
  }

  #any(value: unknown): unknown {
    if (typeof value === 'object' && value !== null) return this.#object(value);
    if (!isLeaf(value)) this.#isJson = false;
    return value;
  }

  #object(value: object): object {
    const known = this.#copyOf(value);
    if (known !== undefined) {
      // It may be a circle.
      this.#isJson = false;
      return known;
    }
    this.#depth += 1;
    if (this.#depth > STATE_DEPTH_MAX) this.#isJson = false;
    const made = this.#made(value);
    this.#depth -= 1;
    return made;
  }

  #made(value: object): object {
    if (Array.isArray(value)) return this.#array(value);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) return this.#properties(value, prototype);
    this.#isJson = false;
    if (prototype === Map.prototype) return this.#mapOf(value as Map<unknown, unknown>);
    if (prototype === Set.prototype) return this.#setOf(value as Set<unknown>);
    const made =
      prototype === Date.prototype
        ? new Date((value as Date).getTime())
        : prototype === URL.prototype
          ? new URL((value as URL).href)
          : value;
    this.#keep(value, made);
    return made;
  }

  #array(array: readonly unknown[]): object {
    const made = array.slice();
    this.#keep(array, made);
    for (let index = 0; index < made.length; index += 1) {
      const element = made[index];
      if (typeof element === 'string') continue;
      const copied = this.#any(element);
      if (copied !== element) made[index] = copied;
    }
    return this.#isFrozen ? Object.freeze(made) : made;
  }

  #properties(object: object, prototype: object | null): object {
    // React looks for more in its elements than what can be copied, and they do not change. A client's JSON has no symbols.
    if (typeof (object as { readonly $$typeof?: unknown }).$$typeof === 'symbol') {
      this.#isJson = false;
      return object;
    }
    const made = { ...object } as Record<string, unknown>;
    if (prototype === null) Object.setPrototypeOf(made, null);
    this.#keep(object, made);
    for (const key in made) {
      if (key === '__proto__') {
        delete made[key];
        this.#isJson = false;
        continue;
      }
      if (key === TYPE_KEY) this.#isJson = false;
      const property = made[key];
      if (typeof property === 'string' || property === undefined) continue;
      const copied = this.#any(property);
      if (copied !== property) made[key] = copied;
    }
    return this.#isFrozen ? Object.freeze(made) : made;
  }

  #mapOf(map: ReadonlyMap<unknown, unknown>): object {
    const made = new Map<unknown, unknown>();
    this.#keep(map, made);
    for (const [key, entry] of map) made.set(this.#any(key), this.#any(entry));
    return made;
  }

  #setOf(set: ReadonlySet<unknown>): object {
    const made = new Set<unknown>();
    this.#keep(set, made);
    for (const entry of set) made.add(this.#any(entry));
    return made;
  }

  /** Copies by their originals: data may have circles. */
  #copyOf(original: object): object | undefined {
    if (this.#map !== undefined) return this.#map.get(original);
    const at = this.#originals.indexOf(original);
    return at === -1 ? undefined : this.#copies[at];
  }

  #keep(original: object, made: object): void {
    if (this.#map !== undefined) {
      this.#map.set(original, made);
      return;
    }
    this.#originals.push(original);
    this.#copies.push(made);
    if (this.#originals.length < FEW) return;
    this.#map = new Map();
    for (const [index, each] of this.#originals.entries()) this.#map.set(each, this.#copies[index] ?? each);
  }
}
