/** Arguments of a model's methods: options of a call, values to write. */
import { toPath } from '../paths/index.js';
import type { GraphValue, JsonGraph, Key, PathValue } from '../types.js';
import type { Json } from './json.js';
import { isWire } from './leaf.js';

/** Options of one call. */
export interface CallOptions {
  /** Ends the call: its promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Options of a write. */
export interface SetOptions extends CallOptions {
  /** Whether values return to what they were if the data source fails, or answers errors in their place; true unless given. */
  readonly rollback?: boolean;
}

/** Values to write: one value at a path, JSON, or a graph. */
export type SetInput = PathValue | { readonly json: Json } | { readonly jsonGraph: JsonGraph };

/** Arguments apart from the options that may stand last: an object which is no list, and has none of the keys of a value to write. */
export function splitOptions<T, Options extends object>(input: readonly (T | Options)[]): [T[], Options] {
  const last = input.at(-1);
  const hasOptions =
    typeof last === 'object' &&
    last !== null &&
    !(Array.isArray(last) || 'path' in last || 'json' in last || 'jsonGraph' in last);
  return hasOptions ? [input.slice(0, -1) as T[], last as Options] : [input as T[], {} as Options];
}

/**
 * Values of one argument of `set`.
 *
 * @throws PathLimitError for JSON of more than 256 levels.
 */
export function valuesOf(input: SetInput): PathValue[] {
  if ('path' in input) return [input];
  const values: PathValue[] = [];
  const isJson = 'json' in input;
  collect(isJson ? input.json : input.jsonGraph, [], isJson, values);
  return values;
}

function collect(value: unknown, path: readonly Key[], isJson: boolean, values: PathValue[]): void {
  toPath(path);
  if (isWire(value) || (isJson && Array.isArray(value))) values.push({ path, value: value as GraphValue });
  else
    for (const [key, inner] of Object.entries(value as Json)) collect(inner, [...path, key], isJson, values);
}
