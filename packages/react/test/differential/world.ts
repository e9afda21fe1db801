/**
 * What the renders of a tree hold on to: its promises, which settle when they are told to, its contexts, and the
 * component types made for its descriptions. Each renderer gets a world of its own.
 */

import type { CachedProps } from '../../src/cache/cached.ts';
import type { CompiledTree } from './compiled.ts';
import type { Kept, Outcome } from './description.ts';
import type * as ReactTypes from 'react';
import type * as ReactDOMTypes from 'react-dom';

export type React = typeof ReactTypes & Record<string, unknown>;
export type ReactDOM = typeof ReactDOMTypes & Record<string, unknown>;

export interface Libraries {
  readonly React: React;
  readonly ReactDOM: ReactDOM;
  /** Where host elements come from the compiler. */
  readonly compiled?: CompiledTree;
  /** `<Cached>` of `@sluice/react`. */
  readonly Cached?: ReactTypes.FunctionComponent<CachedProps>;
}

export interface Turn {
  readonly promise: Promise<string>;
  settle(): void;
}

export interface World extends Libraries {
  readonly turns: readonly Turn[];
  readonly contexts: readonly ReactTypes.Context<unknown>[];
  /** Made once for each description, as a module makes its components once. */
  readonly types: WeakMap<object, unknown>;
  readonly library: readonly Kept[];
  /** How often each of the library has changed. */
  readonly revisions: number[];
  /** Of the session, from 0. */
  page: number;
  /** Counts whatever a renderer does to the tree, which tells when it has come to rest. */
  activity: number;
}

export const contextCount = 3;
export const promiseCount = 4;

export function newWorld(
  libraries: Libraries,
  outcomes: readonly Outcome[],
  library: readonly Kept[] = [],
): World {
  const world: World = {
    ...libraries,
    turns: outcomes.map((outcome) => turnOf(outcome)),
    contexts: Array.from({ length: contextCount }, (_, index) =>
      libraries.React.createContext<unknown>(`default ${index}`),
    ),
    types: new WeakMap(),
    library,
    revisions: library.map(() => 0),
    page: 0,
    activity: 0,
  };
  return world;
}

function turnOf(outcome: Outcome): Turn {
  let settle = (): void => undefined;
  const promise = new Promise<string>((resolve, reject) => {
    settle = () => {
      if (outcome.settles === 'resolves') resolve(outcome.v);
      else reject(errorOf(outcome.v, outcome.digest));
    };
  });
  // A tree need not use all of its promises, and a rejection that nobody awaits would end the process.
  promise.catch(() => undefined);
  return { promise, settle: () => settle() };
}

export function errorOf(message: string, digest?: string): Error {
  const error = new Error(message);
  return digest === undefined ? error : Object.assign(error, { digest });
}

/** `make()` once for `key`, then the same again. */
export function once<T>(world: World, key: object, make: () => T): T {
  if (!world.types.has(key)) world.types.set(key, make());
  return world.types.get(key) as T;
}
