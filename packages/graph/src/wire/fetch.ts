/** Requests and answers of Fetch. It must not know graphs. */
import { Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { routeError } from '../router/errors.js';
import { readBytes } from './body.js';
import type { Answer, Answering, Incoming } from './exchange.js';

/** Answers requests that are its own. Resolves to undefined, and leaves the request alone, for all others. */
export type FetchHandler = (request: Request) => Promise<Response | undefined>;

export function fetchHandler(answering: Answering): FetchHandler {
  return async (request) => {
    const answer = await answering(new FetchIncoming(request));
    return answer === undefined ? undefined : responseOf(request.method, answer);
  };
}

class FetchIncoming implements Incoming {
  readonly raw: Request;
  readonly method: string;
  readonly url: string;
  #headers: Incoming['headers'] | undefined;

  constructor(request: Request) {
    this.raw = request;
    this.method = request.method;
    const { pathname, search } = new URL(request.url);
    this.url = pathname + search;
  }

  get signal(): AbortSignal {
    return this.raw.signal;
  }

  get headers(): Incoming['headers'] {
    return (this.#headers ??= Object.fromEntries(this.raw.headers));
  }

  async body(bytesMax: number): Promise<Uint8Array> {
    const { body, bodyUsed } = this.raw;
    if (bodyUsed || body?.locked === true)
      throw new Error('The app has read the body before the graph handler');
    const length = this.headers['content-length'];
    if (body === null) {
      if (length !== undefined && length !== '0') throw routeError('SLU-GRAPH-BODY', 'The body is missing');
      return new Uint8Array();
    }
    return readBytes(Readable.fromWeb(body as NodeStream<Uint8Array>), bytesMax, length);
  }
}

/** Statuses whose responses have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

function responseOf(method: string, { status, headers, body, stalled }: Answer): Response {
  const isEmpty = method === 'HEAD' || BODILESS.has(status);
  return new Response(isEmpty ? null : typeof body === 'string' ? body : streamOf(body, stalled), {
    status,
    headers: { ...headers },
  });
}

/** Stream of lines. It fails, and drops what waits in it, when nobody takes them. */
function streamOf(
  lines: AsyncIterable<string>,
  stalled: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const iterator = lines[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      stalled?.addEventListener('abort', () => controller.error(stalled.reason), { once: true });
    },
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
