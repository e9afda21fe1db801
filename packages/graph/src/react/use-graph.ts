/** Model of a component, and values of the graph in it. */
import { useContext, useSyncExternalStore } from 'react';
import type { Json } from '../model/json.js';
import type { Model } from '../model/model.js';
import { currentPage, stateOnItsWay } from '../page/current.js';
import type { PathInput } from '../types.js';
import { ModelContext } from './context.js';
import { readingsOf } from './reading.js';

/** Place at which `@sluice/render`, `@sluice/react` and the preload gather what HTML is made of, to know when it may be used again. */
const GATHERERS = Symbol.for('sluice.react.tags.1');

interface Holder {
  [GATHERERS]?: { getStore(): { refuse?(): void } | undefined };
}

/** Store that never changes: to subscribe, to end that and to read give the same. */
const store = (): (() => unknown) => store;

/**
 * Model of the nearest `GraphProvider`, else that of the page: on the server the one of `createPageGraph`, in the browser the one of `startGraph`.
 *
 * @throws Error if there is none.
 */
export function useModel(): Model {
  // Whoever reads from the model has HTML of its values: caches of components must not keep it, nor must `<Cached>` of `@sluice/react`,
  // which keeps no HTML of a component with an external store.
  (globalThis as Holder)[GATHERERS]?.getStore()?.refuse?.();
  useSyncExternalStore(store, store, store);
  const model = useContext(ModelContext) ?? currentPage()?.model;
  if (model === undefined) throw new Error('No <GraphProvider>, startGraph() or createPageGraph().run()');
  return model;
}

/**
 * JSON of the values at the path sets, undefined if nothing is there. The component suspends while values are on their way, and renders
 * again when one of them changes. All components that ask in the same turn share a request.
 *
 * @throws ReadErrors if some values are errors; else what the data source has failed with, for 5 seconds or until `useRetry`.
 */
// oxlint-disable-next-line no-unnecessary-type-parameters -- The caller says what the paths give.
export function useGraph<T = Json>(...paths: PathInput[]): T | undefined {
  const model = useModel();
  const reading = readingsOf(model).of(paths);
  useSyncExternalStore(reading.subscribe, reading.version, reading.version);
  const state = reading.state(stateOnItsWay(model));
  // React takes a promise that is thrown for "not yet", in 18 and in 19.
  // oxlint-disable-next-line no-throw-literal
  if (state.is !== 'there') throw state.thrown;
  return state.json as T | undefined;
}

/** Returns a function that asks again for all that failed, requests as well as errors of the graph: for the button of an error boundary. */
export function useRetry(): () => void {
  const readings = readingsOf(useModel());
  return () => readings.retry();
}
