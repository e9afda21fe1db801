/** Requests and answers of `node:http`, Express and Fastify. It must not know graphs. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readBytes } from './body.js';
import type { Answer, Answering, Incoming } from './exchange.js';
import type { Requested } from './request.js';

/** Answers requests that are its own. Resolves to false, and leaves the response alone, for all others. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;
/** Middleware of Express and Connect. */
export type Middleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;
/** Hook of Fastify, for `app.addHook('onRequest', …)`: it goes before Fastify's own parsers, which leave no body. */
export type FastifyHook = (
  request: { readonly raw: IncomingMessage },
  reply: { readonly raw: ServerResponse; hijack(): unknown },
) => Promise<void>;

export function nodeHandler(answering: Answering): NodeHandler {
  return async (request, response) => {
    const answer = await answering(new NodeIncoming(request, response));
    if (answer === undefined) return false;
    await write(request, response, answer);
    return true;
  };
}

export function middlewareOf(handle: NodeHandler): Middleware {
  return (request, response, next) => {
    handle(request, response).then((isAnswered) => {
      if (!isAnswered) next();
    }, next);
  };
}

export function fastifyHookOf(handle: NodeHandler): FastifyHook {
  return async ({ raw: request }, reply) => {
    if (await handle(request, reply.raw)) reply.hijack();
  };
}

class NodeIncoming implements Incoming {
  readonly raw: IncomingMessage;
  readonly method: string;
  readonly url: string;
  readonly #response: ServerResponse;
  #signal: AbortSignal | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.raw = request;
    this.method = request.method ?? 'GET';
    // Express takes the place of a router away from `url`.
    this.url = (request as { readonly originalUrl?: string }).originalUrl ?? request.url ?? '/';
    this.#response = response;
  }

  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      const controller = new AbortController();
      const response = this.#response;
      const leave = (): void => {
        if (!response.writableFinished) controller.abort(new Error('The client has left'));
      };
      if (response.destroyed) leave();
      else response.once('close', leave);
      this.#signal = controller.signal;
    }
    return this.#signal;
  }

  get headers(): Incoming['headers'] {
    // Only `set-cookie` is a list, which requests have not.
    return this.raw.headers as Incoming['headers'];
  }

  async body(bytesMax: number): Promise<Uint8Array | Requested> {
    const { body } = this.raw as { readonly body?: unknown };
    if (this.raw.readableDidRead || body !== undefined) {
      if (typeof body === 'string') return Buffer.from(body);
      if (typeof body === 'object' && body !== null) return body as Requested;
      throw new Error('The app has read the body before the graph handler, so it is empty');
    }
    return readBytes(this.raw, bytesMax, this.headers['content-length']);
  }
}

/** Sends an answer. A client who leaves ends its body, which is no error; one who takes nothing loses its connection. */
async function write(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body, stalled }: Answer,
): Promise<void> {
  if (response.headersSent || response.destroyed) {
    if (typeof body !== 'string') await body[Symbol.asyncIterator]().return?.();
    return;
  }
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) {
    // What the app's own answer depends on, such as `Origin` by CORS, counts as well.
    if (name === 'vary') response.appendHeader(name, value);
    else response.setHeader(name, value);
  }
  if (typeof body === 'string') {
    if (status !== 304) response.setHeader('content-length', Buffer.byteLength(body));
    response.end(request.method === 'HEAD' ? undefined : body);
    return;
  }
  if (request.method === 'HEAD') {
    await body[Symbol.asyncIterator]().return?.();
    response.end();
    return;
  }
  try {
    await pipeline(Readable.from(body), response, stalled === undefined ? {} : { signal: stalled });
  } catch (error) {
    if (stalled?.aborted === true) response.destroy();
    else if (!response.destroyed) throw error;
  }
}
