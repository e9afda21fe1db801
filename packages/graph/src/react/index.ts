/** The graph in React 18.3 and 19, on the server and in the browser. */
export { GraphProvider, type GraphProviderProps } from './context.js';
export { useGraph, useModel, useRetry } from './use-graph.js';
export { type GraphHooks, graphHooks, useValue } from './typed.js';
