/** The graph in React 18.3 and 19, on the server and in the browser. */
export { GraphProvider, type GraphProviderProps } from './context.js';
export { useGraph, useModel, useRetry } from './use-graph.js';
export { type GraphHooks, graphHooks, useValue } from './typed.js';
// Types that the compiler names in the declarations of an app that exports its hooks.
export type { Steps } from '../router/match.js';
export type {
  FunctionIn,
  JsonAt,
  JsonOfAll,
  PathIn,
  TypedModel,
  ValueAt,
  ValueIn,
} from '../router/schema.js';
