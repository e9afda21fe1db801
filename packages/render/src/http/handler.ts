/**
 * Handlers, and the ways to put them into an app: a server of their own, middleware of Express, Fastify or Hono, or a function of Fetch
 * (`fetch.ts`). It must not know what handlers do.
 */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { AbandonedError } from '../abort.js';
import { errorAnswer, notFound, type Answering } from './answer.js';
import { HttpError, readError } from './errors.js';
import { fetchHandler, firstFetch, responseOf, type FetchOptions, type WithFetch } from './fetch.js';
import { nodeHandler, write, type Handler } from './node.js';
import { tellError, type ErrorOptions } from './told.js';

export type HandlerOptions = ErrorOptions<IncomingMessage>;

/** Handler for `node:http`, with one for Fetch beside it. */
export interface Served extends Handler, WithFetch {}

export function served(answering: Answering): Served {
  return Object.assign(nodeHandler(answering), { fetch: fetchHandler(answering) });
}

/** A server that asks each handler in turn, and answers 404 where none wants a request. It listens where the caller says. */
export function createServer(handlers: Handler | readonly Handler[], options: HandlerOptions = {}): Server {
  const all = [handlers].flat();
  return createHttpServer((request, response) => {
    answerWith(all, request, response, options).catch((error: unknown) => {
      tellError(error, request, options);
      response.destroy();
    });
  });
}

/**
 * Makes a handler for Express, Connect and others: requests that no handler wants continue to `next`. An `HttpError` is answered with its
 * code, and `onError` is told of those with a status of 500 or more; what else a handler throws goes to `next`.
 */
export function middleware(
  handlers: Handler | readonly Handler[],
  options: HandlerOptions = {},
): (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void {
  const all = [handlers].flat();
  return (request, response, next) => {
    // Connect goes on where it is given nothing, and anything may be thrown.
    const failed = (thrown: unknown): void => {
      const error = readError(thrown);
      if (response.writableEnded || error instanceof AbandonedError) tellError(error, request, options);
      else if (!(error instanceof HttpError) || response.headersSent) next(error);
      else {
        tellError(error, request, options);
        write(request, response, errorAnswer(error)).catch(next);
      }
    };
    firstOf(all, request, response).then((isAnswered) => {
      if (!isAnswered) next();
    }, failed);
  };
}

/** Parts of the arguments of a hook in Fastify. */
interface FastifyRequest {
  readonly raw: IncomingMessage;
}
interface FastifyReply {
  readonly raw: ServerResponse;
  hijack(): unknown;
}

/**
 * Makes a hook of Fastify: `app.addHook('onRequest', fastifyHook(handlers))`. It goes before Fastify's own parsers, which leave no body. Requests
 * that no handler wants continue to the app's routes.
 */
export function fastifyHook(
  handlers: Handler | readonly Handler[],
  options: HandlerOptions = {},
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const all = [handlers].flat();
  return async ({ raw: request }, reply) => {
    const { raw: response } = reply;
    // Fastify tells nobody of what fails after the headers.
    if (await tried(all, request, response, options)) reply.hijack();
  };
}

/** Part of the context of a middleware in Hono. */
interface HonoContext {
  readonly req: { readonly raw: Request };
}

/** Makes a middleware of Hono: `app.use(honoMiddleware(handlers))`. Requests that no handler wants continue; what a handler throws goes to `app.onError`. */
export function honoMiddleware(
  handlers: WithFetch | readonly WithFetch[],
  options: FetchOptions = {},
): (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined> {
  const first = firstFetch(handlers, options);
  return async ({ req: { raw: request } }, next) => {
    try {
      const response = await first(request);
      if (response !== undefined) return response;
    } catch (thrown) {
      const error = readError(thrown);
      if (!(error instanceof HttpError || error instanceof AbandonedError)) throw error;
      tellError(error, request, options);
      return responseOf(request.method, errorAnswer(error));
    }
    await next();
    return undefined;
  };
}

async function answerWith(
  handlers: readonly Handler[],
  request: IncomingMessage,
  response: ServerResponse,
  options: HandlerOptions,
): Promise<void> {
  if (!(await tried(handlers, request, response, options))) await write(request, response, notFound());
}

/** Whether the request has been answered, if only with an error. */
async function tried(
  handlers: readonly Handler[],
  request: IncomingMessage,
  response: ServerResponse,
  options: HandlerOptions,
): Promise<boolean> {
  try {
    return await firstOf(handlers, request, response);
  } catch (thrown) {
    const error = readError(thrown);
    tellError(error, request, options);
    if (!response.headersSent) await write(request, response, errorAnswer(error));
    // An answer that has ended is whole: what failed came after it.
    else if (!response.writableEnded) response.destroy();
    return true;
  }
}

async function firstOf(
  handlers: readonly Handler[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  for (const handle of handlers) {
    if (await handle(request, response)) return true;
  }
  return false;
}
