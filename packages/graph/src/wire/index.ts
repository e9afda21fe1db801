export type { WireOptions } from './answering.js';
export type { WireRequest } from './exchange.js';
export type { FetchHandler } from './fetch.js';
export { graphHandler, type GraphHandler } from './handler.js';
export type { FastifyHook, Middleware, NodeHandler } from './node.js';
export { type HttpDataSource, httpSource, type HttpSourceOptions } from './source.js';
export { graphTag } from './tags.js';
