/**
 * Copies of values that several components are given: what one of them changes is its own. It must not know props.
 */

/**
 * A copy of data in depth: arrays, plain objects, Date, Map, Set and URL. Instances of other classes, functions and elements of React are shared.
 * An object that is there twice is there twice in the copy; keys named `__proto__` are left out, as they are in the browser's
 * state.
 */
export function copyOf<T>(value: T, isFrozen = false): T {
  return new Copier(isFrozen).copy(value) as T;
}

class Copier {
  readonly #isFrozen: boolean;
  /** Copies by their originals: data may have circles. */
  readonly #copies = new Map<object, object>();

  constructor(isFrozen: boolean) {
    this.#isFrozen = isFrozen;
  }

  copy(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    return this.#copies.get(value) ?? this.#copyObject(value);
  }

  #copyObject(value: object): object {
    if (Array.isArray(value)) return this.#copyArray(value);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) {
      // React looks for more in its elements than what can be copied, and they do not change.
      return '$$typeof' in value ? value : this.#copyProperties(value as Record<string, unknown>, prototype);
    }
    if (prototype === Map.prototype) return this.#copyMap(value as Map<unknown, unknown>);
    if (prototype === Set.prototype) return this.#copySet(value as Set<unknown>);
    if (prototype === Date.prototype) return this.#keep(value, new Date((value as Date).getTime()));
    if (prototype === URL.prototype) return this.#keep(value, new URL((value as URL).href));
    return value;
  }

  #copyArray(array: readonly unknown[]): object {
    const copy = this.#keep(array, [...array]);
    for (let index = 0; index < copy.length; index += 1) {
      const element = copy[index];
      if (typeof element === 'object' && element !== null) copy[index] = this.copy(element);
    }
    return this.#frozen(copy);
  }

  #copyProperties(object: Record<string, unknown>, prototype: object | null): object {
    const copy = this.#keep(
      object,
      prototype === null ? (Object.assign(Object.create(null), object) as typeof object) : { ...object },
    );
    if (Object.hasOwn(copy, '__proto__')) delete copy['__proto__'];
    for (const key of Object.keys(copy)) {
      const property = copy[key];
      if (typeof property === 'object' && property !== null) copy[key] = this.copy(property);
    }
    return this.#frozen(copy);
  }

  #copyMap(map: ReadonlyMap<unknown, unknown>): object {
    const copy = this.#keep(map, new Map<unknown, unknown>());
    for (const [key, entry] of map) copy.set(this.copy(key), this.copy(entry));
    return copy;
  }

  #copySet(set: ReadonlySet<unknown>): object {
    const copy = this.#keep(set, new Set<unknown>());
    for (const entry of set) copy.add(this.copy(entry));
    return copy;
  }

  #keep<T extends object>(original: object, copy: T): T {
    this.#copies.set(original, copy);
    return copy;
  }

  #frozen<T extends object>(copy: T): T {
    return this.#isFrozen ? Object.freeze(copy) : copy;
  }
}
