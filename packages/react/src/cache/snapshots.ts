/**
 * Snapshot of a value when it was read, so that it can be told later whether another one is the same. Plain data is compared by what is in
 * it, also when the object is the same one (it may have been changed). Functions are compared by identity, as React compares them, and not
 * kept alive: a cache must not hold a request's objects. Instances and what is too large may be changed in place where nobody looks: they
 * are not comparable.
 */

export type Snapshot = unknown;

/** The snapshot of a value that cannot be compared: HTML made from it is not used again. */
export const INCOMPARABLE: unique symbol = Symbol('not comparable');

const OBJECT_ENTRIES_MAX = 256;
/** Largest number of entries of a value, with all that is in it. */
const ENTRIES_MAX = 2048;
const DEPTH_MAX = 12;
/** An entry of an object, a weak reference: about what they take. */
const ENTRY_BYTES = 48;

class PlainSnapshot {
  readonly isArray: boolean;
  readonly keys: readonly string[];
  readonly values: readonly Snapshot[];

  constructor(isArray: boolean, keys: readonly string[], values: readonly Snapshot[]) {
    this.isArray = isArray;
    this.keys = keys;
    this.values = values;
  }
}

export function snapshotOf(value: unknown): Snapshot {
  return snapshot(value, DEPTH_MAX, { entries: ENTRIES_MAX });
}

function snapshot(value: unknown, depth: number, left: { entries: number }): Snapshot {
  if (typeof value === 'function') return new WeakRef(value);
  if (typeof value !== 'object' || value === null) return value;
  const keys = depth > 0 ? plainKeys(value) : null;
  if (keys === null) return INCOMPARABLE;
  left.entries -= keys.length;
  if (left.entries < 0) return INCOMPARABLE;
  const values: Snapshot[] = [];
  for (const key of keys) {
    const inner = snapshot((value as Record<string, unknown>)[key], depth - 1, left);
    if (inner === INCOMPARABLE) return INCOMPARABLE;
    values.push(inner);
  }
  return new PlainSnapshot(Array.isArray(value), keys, values);
}

export function isSame(before: Snapshot, value: unknown): boolean {
  if (before === INCOMPARABLE) return false;
  // What is gone is nobody's value any more, also where there is none now.
  if (before instanceof WeakRef) return value !== undefined && before.deref() === value;
  if (!(before instanceof PlainSnapshot)) return Object.is(before, value);
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== before.isArray) return false;
  const keys = plainKeys(value);
  return (
    keys !== null &&
    keys.length === before.keys.length &&
    keys.every(
      (key, at) =>
        key === before.keys[at] && isSame(before.values[at], (value as Record<string, unknown>)[key]),
    )
  );
}

/** Returns the approximate memory of a snapshot. */
export function snapshotBytes(of: Snapshot): number {
  if (typeof of === 'string') return of.length * 2 + ENTRY_BYTES;
  if (!(of instanceof PlainSnapshot)) return ENTRY_BYTES;
  return of.values.reduce(
    (sum: number, value, at) => sum + snapshotBytes(value) + (of.keys[at] as string).length,
    ENTRY_BYTES,
  );
}

/** The keys of a plain object or array of data; null for everything else, and for what is large. */
function plainKeys(value: object): readonly string[] | null {
  const isArray = Array.isArray(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== (isArray ? Array.prototype : Object.prototype) && prototype !== null) return null;
  const keys = Object.keys(value);
  if (keys.length > OBJECT_ENTRIES_MAX) return null;
  // What is hidden, sparse, or computed when it is read cannot be compared like this.
  const hidden = Reflect.ownKeys(value).length - keys.length;
  if (hidden !== (isArray ? 1 : 0) || (isArray && value.length !== keys.length)) return null;
  const isData = (key: string): boolean => 'value' in (Object.getOwnPropertyDescriptor(value, key) ?? {});
  return keys.every(isData) ? keys : null;
}
