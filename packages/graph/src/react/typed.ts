/** Hooks whose paths and values have the types of a schema, and the value of one path. */
import type { Json } from '../model/json.js';
import { toPath } from '../paths/index.js';
import type { JsonOfAll, ValueIn, TypedModel, ValueAt } from '../router/schema.js';
import type { PathInput } from '../types.js';
import { useGraph, useModel } from './use-graph.js';

/** Hooks that know a schema. A path that it does not have is a type error. */
export interface GraphHooks<Schema> {
  /** JSON of the values at path sets; see `useGraph`. */
  useGraph<const Texts extends readonly string[]>(
    this: void,
    ...paths: { readonly [Place in keyof Texts]: ValueIn<Schema, Texts[Place]> & Texts[Place] }
  ): JsonOfAll<Schema, Texts> | undefined;
  /** Value at one path; see `useValue`. */
  useValue<const Text extends string>(
    this: void,
    path: ValueIn<Schema, Text> & Text,
  ): ValueAt<Schema, Text> | undefined;
  /** Model of the component; see `useModel`. */
  useModel(this: void): TypedModel<Schema>;
}

const HOOKS = { useGraph, useValue, useModel };

/**
 * Hooks for a schema, of which the type alone is needed: `const { useGraph, useValue } = graphHooks<typeof graph.schema>();`. They are the same
 * functions for all schemas.
 */
export function graphHooks<Schema>(): GraphHooks<Schema> {
  return HOOKS as unknown as GraphHooks<Schema>;
}

/**
 * Value at one path, undefined if nothing is there. Suspends and throws as `useGraph` does.
 *
 * @throws PathError for a path that stands for several.
 */
// oxlint-disable-next-line no-unnecessary-type-parameters -- The caller says what the path gives.
export function useValue<T = unknown>(path: PathInput): T | undefined {
  const keys = toPath(path);
  let value: unknown = useGraph(keys);
  for (const key of keys) {
    if (key === null || typeof value !== 'object' || value === null) break;
    value = Object.hasOwn(value, String(key)) ? (value as Json)[String(key)] : undefined;
  }
  return value as T | undefined;
}
