/** Falcor, as the oracle of tests: its synchronous answers from a cache. */
import { createRequire } from 'node:module';
import type { JsonGraph, PathSet } from '../../src/types.js';

interface Observable {
  subscribe(
    next: (value: { json?: unknown }) => void,
    error: (error: unknown) => void,
    done: () => void,
  ): unknown;
}

export interface FalcorModel {
  get(...paths: PathSet[]): Observable;
  set(...values: { path: PathSet; value: unknown }[]): Observable;
  getCache(): JsonGraph;
  boxValues(): FalcorModel;
  treatErrorsAsValues(): FalcorModel;
  invalidate(...paths: PathSet[]): void;
}

const { Model } = createRequire(import.meta.url)('falcor') as {
  Model: new (options: { cache?: JsonGraph; maxSize?: number; collectRatio?: number }) => FalcorModel;
};

/** Model of Falcor on a copy of the graph. */
export function falcorModel(cache: JsonGraph): FalcorModel {
  return new Model({ cache: structuredClone(cache) });
}

/** What an observable of Falcor gives at once. */
export function told(observable: Observable): {
  json: unknown;
  errors: { path: unknown[]; value: unknown }[];
} {
  let json: unknown;
  let errors: { path: unknown[]; value: unknown }[] = [];
  observable.subscribe(
    (value) => (json = value.json),
    (error) => {
      if (!Array.isArray(error)) throw error;
      errors = error as typeof errors;
    },
    () => undefined,
  );
  return { json, errors };
}
