/** Keys and key sets. */
import type { Key, KeySet, Range } from '../types.js';
import { maxPaths, PathError, PathLimitError } from './limits.js';

/** First and last integer of a range; the last is smaller than the first where the range is empty. */
export interface Bounds {
  readonly from: number;
  readonly to: number;
}

/** Whether a key set is a list of keys and ranges. */
export function isList(keySet: KeySet): keySet is readonly (Key | Range)[] {
  return Array.isArray(keySet);
}

/** Whether one part of a key set is a range. */
export function isRange(part: unknown): part is Range {
  return typeof part === 'object' && part !== null && !Array.isArray(part);
}

/**
 * Bounds of a range.
 *
 * @throws PathError if the range has neither `to` nor `length`, or a bound that is no safe integer of at least 0.
 */
export function boundsOf(range: Range): Bounds {
  const { from = 0, to = from + (range.length ?? Number.NaN) - 1 } = range;
  if (!Number.isSafeInteger(to) || to < -1 || !Number.isSafeInteger(from) || from < 0)
    throw new PathError(`Range ${JSON.stringify(range)} needs integers from 0, and "to" or "length"`);
  return { from, to };
}

/** Key as it is written in path sets: a number if it is a canonical integer, else a string, or null. */
export function normalKey(key: Key): string | number | null {
  if (key === null) return key;
  const text = String(key);
  const number = Number(text);
  return Number.isSafeInteger(number) && number >= 0 && String(number) === text ? number : text;
}

/** Number of keys in a key set; a key that stands in it twice counts twice. */
export function countKeys(keySet: KeySet): number {
  if (typeof keySet !== 'object' || keySet === null) return 1;
  if (!isList(keySet)) {
    const { from, to } = boundsOf(keySet);
    return Math.max(0, to - from + 1);
  }
  let count = 0;
  for (const part of keySet) count += isRange(part) ? countKeys(part) : 1;
  return count;
}

/** Keys of a key set in their order. A key that stands in it twice comes twice. */
export function* keysOf(keySet: KeySet): Generator<Key> {
  const parts = isList(keySet) ? keySet : [keySet];
  for (const part of parts)
    if (isRange(part)) {
      const { from, to } = boundsOf(part);
      for (let key = from; key <= to; key += 1) yield key;
    } else yield part;
}

/**
 * Keys of a key set as an array.
 *
 * @throws PathLimitError if there are more than `limit`.
 */
export function listKeys(keySet: KeySet, limit = maxPaths): Key[] {
  const count = countKeys(keySet);
  if (count > limit) throw new PathLimitError(`A key set of ${count} keys is over the limit of ${limit}`);
  return [...keysOf(keySet)];
}

/** Smallest key set of the keys, which are normal and all different: runs of integers become ranges, integers come first. */
export function keySetOf(keys: readonly (string | number | null)[]): KeySet {
  const parts: (Key | Range)[] = [];
  const numbers = keys.filter((key) => typeof key === 'number').sort((one, other) => one - other);
  for (let at = 0; at < numbers.length;) {
    const from = numbers[at] as number;
    let to = from;
    for (at += 1; numbers[at] === to + 1; at += 1) to += 1;
    parts.push(from === to ? from : { from, to });
  }
  // oxlint-disable-next-line require-array-sort-compare -- Text and null, in the order of their text.
  return onlyOf([...parts, ...keys.filter((key) => typeof key !== 'number').sort()]);
}

/** Key set of parts: the part itself if it is the only one. */
export function onlyOf(parts: readonly (Key | Range)[]): KeySet {
  return parts.length === 1 ? (parts[0] as Key | Range) : parts;
}
