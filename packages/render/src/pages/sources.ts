/**
 * Data for pages: JSON of services whose origins code has allowed, and functions that code has registered, each with a time
 * limit. It must not know components.
 */
import type { IncomingMessage } from 'node:http';
import { Abort, type Abortable } from '../abort.js';
import { withDeadline } from '../tasks/deadline.js';
import { boundedText } from '../remote/body.js';
import { toError } from '../thrown.js';
import { resolve } from './bind.js';
import { DATA_DEPTH_MAX, tameData } from './json-data.js';
import type { Scope } from './path.js';
import type { FunctionSource, Source, UpstreamSource } from './tree.js';

export interface SourceContext {
  /** The request that the page is for, where there is one. */
  readonly request: IncomingMessage | undefined;
  /** Aborted when the source is late or the client has left. */
  readonly signal: AbortSignal;
}

/** Facts for all sources of a page. */
export interface AllContext extends Pick<SourceContext, 'request'> {
  /** Aborted when nobody waits for data any more. */
  readonly signal: Abortable;
}

export type SourceFunction = (args: unknown, context: SourceContext) => unknown;

export interface SourcesOptions {
  /** Origins that trees may ask, such as `https://catalogue.internal`. Default: none. Redirects are refused. */
  readonly origins?: readonly string[];
  /** Functions that trees may name. */
  readonly functions?: Readonly<Record<string, SourceFunction>>;
  /** Headers for services, such as credentials and trace context. */
  readonly headers?: (url: URL, request: IncomingMessage | undefined) => Readonly<Record<string, string>>;
  /** Bytes of one answer; default 4 MiB. */
  readonly bytesMax?: number;
}

/** A source gave no data. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly source: string;
  readonly isLate: boolean;

  constructor(source: string, message: string, isLate = false, options?: ErrorOptions) {
    super(`source ${source} ${message}`, options);
    this.source = source;
    this.isLate = isLate;
  }
}

const TIMEOUT_MS = 1_000;
const BYTES_MAX = 4 * 1024 * 1024;

export class Sources {
  readonly #origins: ReadonlySet<string>;
  readonly #options: SourcesOptions;

  /** Throws where an origin is none. */
  constructor(options: SourcesOptions = {}) {
    this.#options = options;
    this.#origins = new Set(
      (options.origins ?? []).map((origin) => {
        if (!URL.canParse(origin) || new URL(origin).origin !== origin)
          throw new TypeError(`${origin} is no origin such as https://catalogue.internal`);
        return origin;
      }),
    );
  }

  /** Every source's value under its name, all asked for at once. Rejects with the first `SourceError`. */
  async all(
    sources: Readonly<Record<string, Source>>,
    scope: Scope,
    context: AllContext,
  ): Promise<Readonly<Record<string, unknown>>> {
    const named = Object.entries(sources);
    const values = await Promise.all(
      named.map(async ([name, source]) => this.#one(name, source, scope, context)),
    );
    return Object.fromEntries(named.map(([name], index) => [name, values[index]]));
  }

  async #one(name: string, source: Source, scope: Scope, { request, signal }: AllContext): Promise<unknown> {
    const timeoutMs = source.timeoutMs ?? TIMEOUT_MS;
    const stop = new Abort();
    const leave = (): void => stop.abort(signal.reason);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave);
    try {
      const context: SourceContext = {
        request,
        get signal() {
          return stop.signal;
        },
      };
      const work =
        'url' in source ? this.#ask(name, source, scope, context) : this.#call(name, source, scope, context);
      return await withDeadline(
        Promise.race([work, whenLeft(name, stop)]),
        timeoutMs,
        () => new SourceError(name, `gave no data within ${timeoutMs} ms`, true),
      );
    } catch (thrown) {
      // What is late goes on otherwise.
      stop.abort();
      const error = toError(thrown);
      if (Object.hasOwn(source, 'default')) return source.default;
      if (error instanceof SourceError) throw error;
      throw new SourceError(name, `failed: ${error.message}`, false, { cause: error });
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  async #call(name: string, source: FunctionSource, scope: Scope, context: SourceContext): Promise<unknown> {
    const { functions = {} } = this.#options;
    const call = Object.hasOwn(functions, source.source) ? functions[source.source] : undefined;
    if (call === undefined)
      throw new SourceError(name, `names the function ${source.source}, which is not registered`);
    return call(resolve(source.args, scope), context);
  }

  async #ask(
    name: string,
    source: UpstreamSource,
    scope: Scope,
    { request, signal }: SourceContext,
  ): Promise<unknown> {
    const url = urlOf(name, source, scope);
    // Checked after the parts are put together: none of them may change where the request goes.
    if (!this.#origins.has(url.origin))
      throw new SourceError(name, `is at ${url.origin}, which is not allowed`);
    const response = await fetch(url, {
      headers: { accept: 'application/json', ...this.#options.headers?.(url, request) },
      redirect: 'error',
      signal,
    });
    const text = await boundedText(response, this.#options.bytesMax ?? BYTES_MAX);
    if (!response.ok) throw new SourceError(name, `was answered ${response.status}`);
    const data = JSON.parse(text) as unknown;
    if (!tameData(data)) throw new SourceError(name, `sent data nested more than ${DATA_DEPTH_MAX} deep`);
    return data;
  }
}

/** Rejects when nobody waits any more, whatever the source does about it. */
async function whenLeft(name: string, signal: Abortable): Promise<never> {
  return new Promise((_resolve, reject) => {
    const leave = (): void => reject(new SourceError(name, 'is waited for by nobody'));
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave);
  });
}

function urlOf(name: string, { url: base, path = [], query = {} }: UpstreamSource, scope: Scope): URL {
  const url = new URL(base);
  if (url.username !== '' || url.password !== '') throw new SourceError(name, 'has credentials in its URL');
  for (const bound of path) {
    const segment = textOf(resolve(bound, scope));
    // The encoding leaves dots alone, and a parser removes `..` with the segment before it.
    if (segment === undefined || segment === '' || segment === '.' || segment === '..')
      throw new SourceError(name, `has no segment for its path: ${JSON.stringify(segment)}`);
    url.pathname = `${url.pathname.replace(/\/$/, '')}/${encodeURIComponent(segment)}`;
  }
  for (const [key, bound] of Object.entries(query)) {
    const value = resolve(bound, scope);
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      const text = textOf(each);
      if (text !== undefined) url.searchParams.append(key, text);
    }
  }
  return url;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return wellFormed(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** `encodeURIComponent` throws for half a surrogate pair. Node 20 has `toWellFormed`, the ES2023 types have not. */
function wellFormed(text: string): string {
  return text.replaceAll(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
}
