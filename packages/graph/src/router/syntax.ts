/** Steps of routes, as the router matches them and as handlers get them. It must not know how routes are matched. */
import { parseRoute, type Pattern } from '../paths/index.js';
import type { Key, KeySet, Range } from '../types.js';
import { listOf, plainKeys, rangesOf, type Keys, type PlainKey, type Sets } from './sets.js';

export type Kind = Pattern['type'];

/** Step of a route: certain keys, or all keys of one sort. */
export type RouteStep =
  | { readonly kind: 'literal'; readonly keys: readonly PlainKey[]; readonly isList: boolean }
  | { readonly kind: Kind; readonly name: string | undefined };

/** Bounds the keys that one step of a route may list. */
const LITERALS_MAX = 1_000;
/** Names that a list has itself. */
const TAKEN: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Array.prototype),
  ...Object.getOwnPropertyNames(Object.prototype),
]);

/** Returns the steps of a route. Throws an error that names the place. */
export function routeSteps(text: string): readonly RouteStep[] {
  const parsed = parseRoute(text);
  if (parsed.length === 0) throw new Error('A route must have at least one step');
  const names = new Set<string>();
  return parsed.map((step): RouteStep => {
    if (!isPattern(step)) return literal(text, step);
    const { type: kind, name } = step;
    if (name !== undefined) {
      if (TAKEN.has(name) || /^\d/.test(name) || names.has(name))
        throw new Error(`Route ${text}: another name than ${name} is needed`);
      names.add(name);
    }
    return { kind, name };
  });
}

function isPattern(step: KeySet | Pattern): step is Pattern {
  return typeof step === 'object' && step !== null && 'type' in step;
}

function literal(text: string, keySet: KeySet): RouteStep {
  const ranges = typeof keySet === 'object' && keySet !== null ? [keySet].flat() : [];
  for (const range of ranges as readonly (Key | Range)[]) {
    if (typeof range === 'object' && range !== null && (range.to ?? 0) - (range.from ?? 0) >= LITERALS_MAX)
      throw new Error(`Route ${text}: a range of a route has ${LITERALS_MAX} integers at most`);
  }
  const keys = plainKeys(keySet);
  const list = listOf(keys);
  if (list.length === 0) throw new Error(`Route ${text}: a step has no key`);
  return { kind: 'literal', keys: list, isList: typeof keySet === 'object' };
}

/**
 * Keys that a handler is called for, by step: text for a literal key, numbers for `{integers}`, ranges for `{ranges}`, and keys for
 * `{keys}` and lists of literal keys. Steps with a name have a property of that name.
 */
export interface MatchedPath extends ReadonlyArray<MatchedStep> {
  readonly [name: string]: unknown;
}
export type MatchedStep = PlainKey | readonly PlainKey[] | readonly Required<Pick<Range, 'from' | 'to'>>[];

/** Makes the argument of a handler. */
export function matchedPath(steps: readonly RouteStep[], sets: Sets): MatchedPath {
  const matched: MatchedStep[] & Record<string, unknown> = [] as never;
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at] as RouteStep;
    const keys = sets[at] as Keys;
    if (step.kind === 'literal') matched.push(step.isList ? listOf(keys) : keys);
    else {
      const found = step.kind === 'ranges' ? rangesOf(listOf(keys)) : listOf(keys);
      matched.push(found);
      if (step.name !== undefined) (matched as Record<string, unknown>)[step.name] = found;
    }
  }
  return matched;
}
