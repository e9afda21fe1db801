/**
 * Values and conditions of a tree that depend on data. Both are data themselves: every condition comes to an end, and
 * none can run code. It must not know components.
 */
import { isDeepStrictEqual } from 'node:util';
import { parsePath, valueAt, type Path, type Scope } from './path.js';
import { isObject } from './shapes.js';

/** A JSON value. An object with `$path` stands for the value at that path, or `default` where there is none. */
export type Bound = unknown;

export type Condition =
  /** Condition that there is a value at the path, and it is not null. */
  | { readonly exists: string }
  | { readonly equals: readonly [Bound, Bound] }
  | { readonly not: Condition }
  | { readonly any: readonly Condition[] }
  | { readonly all: readonly Condition[] };

/** Paths are parsed once, when a tree is checked; the table is bounded, as trees may come from clients. */
const parsed = new Map<string, Path | undefined>();
const PATHS_MAX = 10_000;

export function pathOf(text: string): Path | undefined {
  if (parsed.has(text)) return parsed.get(text);
  const path = parsePath(text);
  if (parsed.size >= PATHS_MAX) parsed.clear();
  parsed.set(text, path);
  return path;
}

export function isBinding(value: unknown): value is { readonly $path: string; readonly default?: unknown } {
  return isObject(value) && Object.hasOwn(value, '$path');
}

/** The value with every binding replaced. Absent values are left out of objects, and null in arrays, as JSON has it. */
export function resolve(bound: Bound, scope: Scope): unknown {
  if (typeof bound !== 'object' || bound === null) return bound;
  if (Array.isArray(bound)) return bound.map((element) => resolve(element, scope) ?? null);
  if (isBinding(bound)) {
    const path = pathOf(bound.$path);
    return (path === undefined ? undefined : readNow(valueAt(path, scope), scope)) ?? bound.default;
  }
  if (!isObject(bound)) return bound; // A Date, a Map: from code.
  const object: Record<string, unknown> = {};
  for (const key of Object.keys(bound)) {
    const value = resolve(bound[key], scope);
    if (value === undefined) continue;
    // Plain assignment would set the prototype.
    if (key === '__proto__')
      Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
    else object[key] = value;
  }
  return object;
}

/** A copy of noted data that is bound as a whole: a component would read it when the headers have left. */
function readNow(value: unknown, { root, noted }: Scope): unknown {
  if (noted === undefined) return value;
  if (value === noted) return { ...noted };
  if (value !== root) return value;
  return Object.fromEntries(
    Object.entries(root).map(([key, each]) => [key, each === noted ? { ...noted } : each]),
  );
}

export function holds(condition: Condition, scope: Scope): boolean {
  if ('exists' in condition) {
    const path = pathOf(condition.exists);
    return path !== undefined && (valueAt(path, scope) ?? undefined) !== undefined;
  }
  if ('equals' in condition) {
    const [left, right] = condition.equals;
    return isDeepStrictEqual(resolve(left, scope), resolve(right, scope));
  }
  if ('not' in condition) return !holds(condition.not, scope);
  if ('any' in condition) return condition.any.some((each) => holds(each, scope));
  return condition.all.every((each) => holds(each, scope));
}
