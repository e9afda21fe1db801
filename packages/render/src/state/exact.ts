/**
 * Texts that no two different states share, for keys of caches. `serialize` alone is no such text: a promise, a `RegExp` and an object with
 * private fields are all `{}` in it. It must not know components or caches.
 */
import { isLeaf, serialize, serializeJson, STATE_DEPTH_MAX, TYPE_KEY } from './serialize.js';

export interface ExactText {
  /** Text that `serialize` gives. */
  readonly text: string;
  /** The text, and what it leaves out: where properties are undefined, and objects without a prototype. */
  readonly key: string;
}

/**
 * The text of a value, and its key. Undefined for a value that a text does not tell from all others. Values that it does tell have what JSON
 * knows, undefined, BigInt and plain objects, arrays, Date, URL, Map and Set. Their objects have no getters, hidden properties or symbols as
 * keys. Their arrays have no holes, and no properties of their own. They have 1,000 levels at most. Runs no getter of an object.
 */
export function exactTextOf(value: unknown): ExactText | undefined {
  const look = new Look();
  if (!look.isExact(value)) return undefined;
  const text = look.isJson ? serializeJson(value) : serialize(value);
  return { text, key: look.marks === undefined ? text : text + JSON.stringify(look.marks) };
}

/** Index that marks an object without a prototype. */
const NO_PROTOTYPE = -1;

/** One look through a value. */
class Look {
  /** `JSON.stringify` writes the value as `serialize` does. */
  isJson = true;
  /** Marks what a text leaves out: number of the object in the order of the text, index of the property, its name. */
  marks: (number | string)[] | undefined = undefined;
  #objects = 0;
  #depth = 0;

  isExact(value: unknown): boolean {
    if (typeof value === 'object' && value !== null) {
      // A circle is deeper than any limit.
      if (this.#depth >= STATE_DEPTH_MAX) return false;
      this.#depth += 1;
      const isExact = this.#isExactObject(value);
      this.#depth -= 1;
      return isExact;
    }
    if (isLeaf(value)) return true;
    this.isJson = false;
    return typeof value !== 'function' && typeof value !== 'symbol';
  }

  #isExactObject(value: object): boolean {
    this.#objects += 1;
    if (Object.getOwnPropertySymbols(value).length > 0) return false;
    const prototype: unknown = Object.getPrototypeOf(value);
    if (Array.isArray(value)) return prototype === Array.prototype && this.#isExactArray(value);
    if (prototype === Object.prototype) return this.#hasExactProperties(value as Record<string, unknown>);
    if (prototype === null) {
      (this.marks ??= []).push(this.#objects, NO_PROTOTYPE, '');
      return this.#hasExactProperties(value as Record<string, unknown>);
    }
    this.isJson = false;
    if (Object.getOwnPropertyNames(value).length > 0) return false;
    if (prototype === Date.prototype || prototype === URL.prototype) return true;
    if (prototype === Set.prototype) return [...(value as Set<unknown>)].every((each) => this.isExact(each));
    return (
      prototype === Map.prototype &&
      [...(value as Map<unknown, unknown>)].every((entry) => entry.every((each) => this.isExact(each)))
    );
  }

  #isExactArray(array: readonly unknown[]): boolean {
    // Holes make it fewer, and properties more.
    if (Object.keys(array).length !== array.length) return false;
    // One beside the elements is the length.
    if (Object.getOwnPropertyNames(array).length !== array.length + 1) return false;
    for (let index = 0; index < array.length; index += 1) if (!this.isExact(array[index])) return false;
    return true;
  }

  #hasExactProperties(object: Readonly<Record<string, unknown>>): boolean {
    const keys = Object.keys(object);
    if (Object.getOwnPropertyNames(object).length !== keys.length) return false;
    const number = this.#objects;
    for (let index = 0; index < keys.length; index += 1) {
      const key = keys[index] ?? '';
      const property = Object.getOwnPropertyDescriptor(object, key);
      if (
        key === '__proto__' ||
        property === undefined ||
        property.get !== undefined ||
        property.set !== undefined
      )
        return false;
      if (key === TYPE_KEY) this.isJson = false;
      if (property.value === undefined) (this.marks ??= []).push(number, index, key);
      else if (!this.isExact(property.value)) return false;
    }
    return true;
  }
}
