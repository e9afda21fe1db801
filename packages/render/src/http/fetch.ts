/**
 * Answers over Fetch: a `Request` becomes what handlers read, and an answer becomes a `Response`. It must not know what handlers do.
 */
import { IncomingMessage, type IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { Abort } from '../abort.js';
import { toError } from '../thrown.js';
import { BODILESS, errorAnswer, notFound, type Answer, type Answering } from './answer.js';
import { tellError, type ErrorOptions } from './told.js';

/** Answers the requests that are its own. Resolves to undefined, and leaves the request alone, for all others. */
export type FetchHandler = (request: Request, options?: FetchOptions) => Promise<Response | undefined>;

export interface FetchOptions extends ErrorOptions<Request> {
  /** The client's address, which Fetch does not tell: visitors without a cookie get their arms of experiments by it. */
  readonly address?: (request: Request) => string | undefined;
}

/** Options of one request that a list of handlers shares. */
interface Asked extends FetchOptions {
  /** Makes the request in the shape of `node:http` when the first handler wants it. */
  readonly incoming?: () => IncomingMessage;
}

/** Rejects with what the handler threw. */
export function fetchHandler(answering: Answering): FetchHandler {
  return async (request, options: Asked = {}) => {
    const incoming = options.incoming?.() ?? requestOf(request, options.address);
    const answer = await answering(incoming, { leave: () => leaving(request), response: undefined });
    if (answer === undefined) return undefined;
    answer.sent?.().catch((error: unknown) => {
      tellError(error, request, options);
    });
    return responseOf(request.method, answer);
  };
}

/**
 * Makes one function of handlers, as frameworks on Fetch take it: 404 where no handler wants the request, and an answer with a code where one
 * throws. `onError` gets what clients do not see.
 *
 * ```js
 * app.all('*', (context) => handle(context.req.raw)); // Hono
 * export const POST = ({ request }) => handle(request); // SvelteKit, Astro, React Router, Next.js
 * ```
 */
export function toFetch(
  handlers: WithFetch | FetchHandler | readonly (WithFetch | FetchHandler)[],
  options: FetchOptions = {},
): (request: Request) => Promise<Response> {
  const first = firstFetch(handlers, options);
  return async (request) => {
    try {
      return (await first(request)) ?? (await responseOf(request.method, notFound()));
    } catch (thrown) {
      tellError(thrown, request, options);
      return responseOf(request.method, errorAnswer(thrown));
    }
  };
}

/** Asks each handler in turn, all of them with one request in the shape of `node:http`. */
export function firstFetch(
  handlers: WithFetch | FetchHandler | readonly (WithFetch | FetchHandler)[],
  options: FetchOptions,
): FetchHandler {
  const all = [handlers].flat().map((each) => ('fetch' in each ? each.fetch : each));
  return async (request) => {
    let incoming: IncomingMessage | undefined;
    const asked: Asked = {
      ...options,
      incoming: () => (incoming ??= requestOf(request, options.address)),
    };
    for (const handle of all) {
      const response = await handle(request, asked);
      if (response !== undefined) return response;
    }
    return undefined;
  };
}

/** Handler that answers requests of Fetch as well. */
export interface WithFetch {
  readonly fetch: FetchHandler;
}

/** Aborted when the client leaves. */
export function leaving({ signal }: Request): Abort {
  const abort = new Abort();
  const leave = (): void => abort.abort(new Error('The client has left'));
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return abort;
}

/** Makes a request of `node:http` from one of Fetch. */
export function requestOf(request: Request, address?: FetchOptions['address']): IncomingMessage {
  return new Fetched(request, address?.(request));
}

/** A request of Fetch in the shape of `node:http`. Its body is not touched before somebody reads it. */
class Fetched extends IncomingMessage {
  readonly #request: Request;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(request: Request, address: string | undefined) {
    const socket = new Socket();
    if (address !== undefined) Object.defineProperty(socket, 'remoteAddress', { value: address });
    super(socket);
    this.#request = request;
    const { host, pathname, search } = new URL(request.url);
    this.method = request.method;
    this.url = pathname + search;
    this.httpVersion = '1.1';
    const headers: IncomingHttpHeaders = { host };
    request.headers.forEach((value, name) => {
      headers[name] = value;
    });
    this.headers = headers;
    this.rawHeaders = Object.entries(headers).flat() as string[];
    // A body that the app has read is no fault of the client's.
    if (request.bodyUsed || request.body?.locked === true)
      Object.defineProperty(this, 'readableDidRead', { value: true });
    // A client may leave while the rest of a refused body is read, where nobody listens.
    this.on('error', () => undefined);
  }

  override _read(size: number): void {
    // Until it is asked for the first time, a message does not read on by itself.
    super._read(size);
    void this.#pull();
  }

  async #pull(): Promise<void> {
    try {
      if (this.#reader === undefined) {
        const { body } = this.#request;
        this.#reader = (body as ReadableStream<Uint8Array> | null)?.getReader();
      }
      const { done, value } = (await this.#reader?.read()) ?? { done: true };
      if (!done) {
        this.push(value);
        return;
      }
      this.complete = true;
      this.push(null);
    } catch (error) {
      this.destroy(toError(error));
    }
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#reader?.cancel().catch(() => undefined);
    callback(error);
  }
}

export async function responseOf(
  method: string,
  { status, headers: given, body }: Answer,
): Promise<Response> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given))
    for (const each of typeof value === 'string' ? [value] : value) headers.append(name, each);
  if (method === 'HEAD' || BODILESS.has(status)) {
    if (body instanceof Readable) body.destroy();
    if (BODILESS.has(status)) headers.delete('content-length');
    return new Response(null, { status, headers });
  }
  const whole = body instanceof Readable ? await body.whole?.() : body;
  if (whole !== undefined && !headers.has('content-length'))
    headers.set('content-length', String(Buffer.byteLength(whole)));
  const sent = whole ?? webStreamOf(body as Readable);
  return new Response(sent as BodyInit, { status, headers });
}

/**
 * Makes a stream of Fetch that reads a chunk when somebody wants it. The stream of `Readable.toWeb` ends the process where it is cancelled in the
 * turn in which it is read (Node 20). It looks whole where the body was destroyed before.
 */
function webStreamOf(body: Readable): ReadableStream<Uint8Array> {
  // Who reads is told; an error before that must not end the process.
  body.on('error', () => undefined);
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (done === true) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          controller.error(error);
        }
      },
      cancel() {
        body.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
