/** Handlers of a graph for servers. */
import type { Router } from '../router/router.js';
import { answeringOf, type WireOptions } from './answering.js';
import { fetchHandler, type FetchHandler } from './fetch.js';
import {
  fastifyHookOf,
  middlewareOf,
  nodeHandler,
  type FastifyHook,
  type Middleware,
  type NodeHandler,
} from './node.js';

/** Handlers of one graph, for the server that an app has. */
export interface GraphHandler {
  /** Handler of Fetch: `export const GET = async ({ request }) => (await graph.fetch(request)) ?? notFound()`. */
  readonly fetch: FetchHandler;
  /** Handler of `node:http`: `createServer(async (request, response) => { if (!(await graph.node(request, response))) … })`. */
  readonly node: NodeHandler;
  /** Middleware of Express and Connect: `app.use(graph.express)`. */
  readonly express: Middleware;
  /** Hook of Fastify: `app.addHook('onRequest', graph.fastify)`. */
  readonly fastify: FastifyHook;
}

/**
 * Serves a router over Falcor's HTTP protocol.
 *
 * ```ts
 * const graph = graphHandler(router, { data: (request) => ({ user: userOf(request.headers.cookie) }) });
 * app.use(graph.express);
 * ```
 */
export function graphHandler<Data>(router: Router<Data>, options: WireOptions<Data> = {}): GraphHandler {
  const answering = answeringOf(router, options);
  const node = nodeHandler(answering);
  return { fetch: fetchHandler(answering), node, express: middlewareOf(node), fastify: fastifyHookOf(node) };
}
