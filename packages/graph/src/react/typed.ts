/** Hooks whose paths and values have the types of a shape. */
import type { CheckedOne, CheckedPaths, JsonOf, ValueAt } from '../typed/shape.js';
import type { TypedModel } from '../typed/index.js';
import type { Json } from '../model/json.js';
import type { Key, PathSet } from '../types.js';
import { useModel } from './context.js';
import { useGraph } from './use-graph.js';

/** Hooks that know a shape. A path that the shape does not have is a type error. */
export interface GraphHooks<Shape> {
  /** JSON of the values at path sets; see `useGraph`. */
  useGraph<const Paths extends readonly PathSet[]>(
    this: void,
    ...paths: Paths & CheckedPaths<Shape, Paths>
  ): JsonOf<Shape, Paths> | undefined;
  /** Value at one path, undefined if nothing is there. Suspends and throws as `useGraph` does. */
  useValue<const Path extends PathSet>(
    this: void,
    path: Path & CheckedOne<Shape, Path>,
  ): ValueAt<Shape, Path> | undefined;
  /** Model of the component; see `useModel`. */
  useModel(this: void): TypedModel<Shape>;
}

const HOOKS = { useGraph, useValue, useModel };

/** Hooks for a shape: `const { useGraph, useValue } = graphHooks<Shop>();`. They are the same functions for all shapes. */
export function graphHooks<Shape>(): GraphHooks<Shape> {
  return HOOKS as unknown as GraphHooks<Shape>;
}

/** Value at one path, undefined if nothing is there. Suspends and throws as `useGraph` does. */
// oxlint-disable-next-line no-unnecessary-type-parameters -- The caller says what the path gives.
export function useValue<T = unknown>(path: readonly Key[]): T | undefined {
  let value: unknown = useGraph(path);
  for (const key of path) {
    if (key === null || typeof value !== 'object' || value === null) break;
    value = Object.hasOwn(value, String(key)) ? (value as Json)[String(key)] : undefined;
  }
  return value as T | undefined;
}
