/** Data source over Falcor's HTTP protocol, for browsers and servers: answers of this package's handlers and of `falcor-express`. */
import { RouteError } from '../router/errors.js';
import type { Answer, DataSource, Envelope, PathSet, SourceOptions } from '../types.js';

export interface HttpSourceOptions {
  /** Function that sends requests. Default: `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Headers of all requests, or a function that makes them for each. */
  readonly headers?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>);
  /** Whether values come in parts, as routes give them. Servers of `falcor-express` answer whole in any case. Default: false. */
  readonly isStream?: boolean;
  /** Bounds the characters of the address of a GET; longer requests are sent by POST. Default: 2,000. */
  readonly urlMax?: number;
  /** Cookies that go with requests, as of `fetch`. Default: `same-origin`. */
  readonly credentials?: RequestInit['credentials'];
}

/** Data source whose answers to `set` and `call` come whole. */
export interface HttpDataSource extends Required<DataSource> {
  set(...args: Parameters<Required<DataSource>['set']>): Promise<Envelope>;
  call(...args: Parameters<Required<DataSource>['call']>): Promise<Envelope>;
}

/** Header with the places of the path sets that the state of the client's page had: `0,2`. */
export const HELD_HEADER = 'sluice-graph-held';
const URL_MAX = 2_000;
const FORM = 'application/x-www-form-urlencoded';
const NDJSON = 'application/x-ndjson';

/** Makes a data source. Its requests reject with a `RouteError`, which has the status and the server's code, or with what `fetch` throws. */
export function httpSource(url: string, options: HttpSourceOptions = {}): HttpDataSource {
  return new HttpSource(url, options);
}

class HttpSource implements HttpDataSource {
  readonly #url: string;
  readonly #options: HttpSourceOptions;

  constructor(url: string, options: HttpSourceOptions) {
    this.#url = url;
    this.#options = options;
  }

  get(paths: readonly PathSet[], options: SourceOptions = {}): Answer {
    const query = encoded({ method: 'get', paths });
    const { isStream = false, urlMax = URL_MAX } = this.#options;
    const url = `${this.#url}${this.#url.includes('?') ? '&' : '?'}${query}`;
    const [target, body] = url.length > urlMax ? [this.#url, query] : [url, undefined];
    if (isStream) return this.#parts(target, body, options);
    return this.#whole(target, body, options);
  }

  set(envelope: Envelope, options: SourceOptions = {}): Promise<Envelope> {
    const { jsonGraph, paths } = envelope;
    return this.#whole(this.#url, encoded({ method: 'set', jsonGraph: { jsonGraph, paths } }), options);
  }

  call(
    path: readonly unknown[],
    args: readonly unknown[],
    pathSuffixes: readonly PathSet[],
    paths: readonly PathSet[],
    options: SourceOptions = {},
  ): Promise<Envelope> {
    const body = encoded({ method: 'call', callPath: path, arguments: args, pathSuffixes, paths });
    return this.#whole(this.#url, body, options);
  }

  async #whole(url: string, body: string | undefined, options: SourceOptions): Promise<Envelope> {
    const response = await this.#send(url, body, 'application/json', options);
    return envelopeOf(await response.json());
  }

  async *#parts(
    url: string,
    body: string | undefined,
    options: SourceOptions,
  ): AsyncGenerator<Envelope, void, undefined> {
    const response = await this.#send(url, body, `${NDJSON}, application/json;q=0.9`, options);
    if (response.body === null || !(response.headers.get('content-type') ?? '').startsWith(NDJSON)) {
      yield envelopeOf(await response.json());
      return;
    }
    for await (const line of linesOf(response.body)) {
      // Some proxies keep connections busy by empty lines.
      if (line.trim() === '') continue;
      const part = partOf(line);
      if (part.end === true) return;
      if (part.jsonGraph === undefined) throw errorOf(response.status, part);
      yield part as Envelope;
    }
    throw brokenOff();
  }

  async #send(
    url: string,
    body: string | undefined,
    accept: string,
    { signal, held = [] }: SourceOptions,
  ): Promise<Response> {
    const { headers = {}, credentials = 'same-origin' } = this.#options;
    const send = this.#options.fetch ?? fetch;
    const response = await send(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept,
        'x-requested-with': 'XMLHttpRequest',
        ...(body === undefined ? {} : { 'content-type': FORM }),
        ...(held.length > 0 && isOwnOrigin(url) ? { [HELD_HEADER]: held.join() } : {}),
        ...(typeof headers === 'function' ? headers() : headers),
      },
      credentials,
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (response.ok) return response;
    let told: unknown;
    try {
      told = await response.json();
    } catch {
      // Some proxies answer with HTML.
    }
    throw errorOf(response.status, told);
  }
}

/** Another origin's server may refuse a header that it does not know. */
function isOwnOrigin(url: string): boolean {
  return /^\/(?!\/)/u.test(url) || (typeof location === 'object' && url.startsWith(`${location.origin}/`));
}

function encoded(parameters: Readonly<Record<string, unknown>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return `${name}=${encodeURIComponent(text)}`;
    })
    .join('&');
}

/** Body of an answer that is an error. */
interface ErrorBody {
  readonly error?: unknown;
  readonly code?: unknown;
}

function errorOf(status: number, told: unknown): RouteError {
  const { error, code } = (typeof told === 'object' && told !== null ? told : {}) as ErrorBody;
  return new RouteError(typeof error === 'string' ? error : `The server answered ${status}`, {
    statusCode: status < 400 ? 502 : status,
    ...(typeof code === 'string' ? { code } : {}),
  });
}

function brokenOff(cause?: unknown): RouteError {
  return new RouteError('The answer is incomplete', { statusCode: 502, code: 'SLU-GRAPH-SOURCE', cause });
}

/** Line of an answer in parts: a part of the graph, the end, or an error. */
type Part = Partial<Envelope> & ErrorBody & { readonly end?: boolean };

function partOf(line: string): Part {
  try {
    return JSON.parse(line) as Part;
  } catch (error) {
    throw brokenOff(error);
  }
}

function envelopeOf(value: unknown): Envelope {
  const isEnvelope = typeof value === 'object' && value !== null && 'jsonGraph' in value;
  if (!isEnvelope)
    throw new RouteError('The answer of the server is not JSON Graph', {
      statusCode: 502,
      code: 'SLU-GRAPH-SOURCE',
    });
  return value as Envelope;
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (text + decoder.decode(value, { stream: true })).split('\n');
      text = lines.pop() ?? '';
      yield* lines;
    }
    if (text !== '') yield text;
  } finally {
    // A reader that stops early ends the request.
    await reader.cancel().catch(() => undefined);
  }
}
