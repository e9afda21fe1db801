/** Copies of values that several components are given: what one of them changes is its own. It must not know props. */

/** Originals that are looked for one by one; a `Map` costs more than that for most props. */
const FEW = 12;

/**
 * A copy of data in depth: arrays, plain objects, Date, Map, Set and URL. Instances of other classes, functions and elements of React
 * are shared. An object that is there twice is there twice in the copy; keys named `__proto__` are left out, as they are in the
 * browser's state.
 */
export function copyOf<T>(value: T, isFrozen = false): T {
  return typeof value === 'object' && value !== null ? (copy(value, new Copies(isFrozen)) as T) : value;
}

/** Copies by their originals: data may have circles. */
class Copies {
  readonly isFrozen: boolean;
  readonly #originals: object[] = [];
  readonly #copies: object[] = [];
  #map: Map<object, object> | undefined;

  constructor(isFrozen: boolean) {
    this.isFrozen = isFrozen;
  }

  of(original: object): object | undefined {
    if (this.#map !== undefined) return this.#map.get(original);
    const at = this.#originals.indexOf(original);
    return at === -1 ? undefined : this.#copies[at];
  }

  keep(original: object, made: object): void {
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

function copy(value: object, copies: Copies): object {
  const known = copies.of(value);
  if (known !== undefined) return known;
  if (Array.isArray(value)) return copyArray(value, copies);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return copyProperties(value, prototype, copies);
  if (prototype === Map.prototype) return copyMap(value as Map<unknown, unknown>, copies);
  if (prototype === Set.prototype) return copySet(value as Set<unknown>, copies);
  const made =
    prototype === Date.prototype
      ? new Date((value as Date).getTime())
      : prototype === URL.prototype
        ? new URL((value as URL).href)
        : value;
  copies.keep(value, made);
  return made;
}

function copyArray(array: readonly unknown[], copies: Copies): object {
  const made = array.slice();
  copies.keep(array, made);
  for (let index = 0; index < made.length; index += 1) {
    const element = made[index];
    if (typeof element === 'object' && element !== null) made[index] = copy(element, copies);
  }
  return copies.isFrozen ? Object.freeze(made) : made;
}

function copyProperties(object: object, prototype: object | null, copies: Copies): object {
  // React looks for more in its elements than what can be copied, and they do not change. A client's JSON has no symbols.
  if ('$$typeof' in object && typeof object.$$typeof === 'symbol') return object;
  const made = { ...object } as Record<string, unknown>;
  if (prototype === null) Object.setPrototypeOf(made, null);
  copies.keep(object, made);
  for (const key in made) {
    const property = made[key];
    if (key === '__proto__') delete made[key];
    else if (typeof property === 'object' && property !== null) made[key] = copy(property, copies);
  }
  return copies.isFrozen ? Object.freeze(made) : made;
}

function copyMap(map: ReadonlyMap<unknown, unknown>, copies: Copies): object {
  const made = new Map<unknown, unknown>();
  copies.keep(map, made);
  for (const [key, entry] of map) made.set(copyAny(key, copies), copyAny(entry, copies));
  return made;
}

function copySet(set: ReadonlySet<unknown>, copies: Copies): object {
  const made = new Set<unknown>();
  copies.keep(set, made);
  for (const entry of set) made.add(copyAny(entry, copies));
  return made;
}

function copyAny(value: unknown, copies: Copies): unknown {
  return typeof value === 'object' && value !== null ? copy(value, copies) : value;
}
