/** Values of the graph in components. */
import { useSyncExternalStore } from 'react';
import type { Json } from '../model/json.js';
import { stateOnItsWay } from '../page/current.js';
import type { PathInput } from '../types.js';
import { useModel } from './context.js';
import { readingsOf } from './reading.js';

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
  if (state.is === 'waiting') throw state.until;
  if (state.is === 'failed') throw state.error;
  return state.json as T | undefined;
}

/** Returns a function that asks again for all that failed, requests as well as errors of the graph: for the button of an error boundary. */
export function useRetry(): () => void {
  const readings = readingsOf(useModel());
  return () => readings.retry();
}
