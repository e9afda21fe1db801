export type { LoadedValues, LoaderFunctions, RouteContext } from './context.js';
export { CATALOGUE, RouteError, type ErrorCode, type ErrorValue, type RouteErrorOptions } from './errors.js';
export {
  createLoader,
  type BatchFunction,
  type BatchResult,
  type Loader,
  type LoaderOptions,
} from './loader.js';
export type { Match } from './match.js';
export {
  route,
  type Authorization,
  type CallWishes,
  type RouteDefinition,
  type RouteGraph,
  type RouteHandlers,
  type RouteInvalidation,
  type RouteOutput,
  type RoutePart,
  type RouteParts,
  type RouteValue,
} from './route.js';
export { Router, type RequestOptions, type RouterOptions, type StreamOptions } from './router.js';
export type { RoutePlace } from './journal.js';
export type { Limits } from './limits.js';
export {
  callable,
  refTo,
  typedGraph,
  type ArgsAt,
  type Callable,
  type GraphSchema,
  type JsonAt,
  type FunctionIn,
  type PathIn,
  type RefTo,
  type SchemaNode,
  type StandardSchema,
  type TypedGraph,
  type TypedHandlers,
  type TypedModel,
  type ValueAt,
  type ValueIn,
} from './schema.js';
export type { RouteEvent, RouteFigures, RouteStats } from './stats.js';
export type { MatchedPath } from './syntax.js';
export type { Method } from './trie.js';
