/**
 * Data for pages: JSON of services whose origins code has allowed, and functions that code has registered, each with a time
 * limit. It must not know components.
 */
import type { IncomingMessage } from 'node:http';
import { Abort, type Abortable } from '../abort.js';
import { withDeadline } from '../tasks/deadline.js';
import { serialize } from '../state/serialize.js';
import { toError } from '../thrown.js';
import { resolve } from './bind.js';
import { Batched, Batches } from './batched.js';
import { AskContext } from './contexts.js';
import type { Scope } from './path.js';
import type { Source } from './tree.js';
import { askUpstream, SourceFailure, urlOf } from './upstream.js';

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
  readonly functions?: Readonly<Record<string, SourceFunction | Batched>>;
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
const LEFT = 'is no longer needed';

export class Sources {
  readonly #origins: ReadonlySet<string>;
  readonly #options: SourcesOptions;

  /** Throws where an origin is none. */
  constructor(options: SourcesOptions = {}) {
    this.#options = options;
    this.#origins = new Set(
      (options.origins ?? []).map((origin) => {
        if (!URL.canParse(origin) || new URL(origin).origin !== origin)
          throw new TypeError(`${origin} is not an origin such as https://catalogue.internal`);
        return origin;
      }),
    );
  }

  /** Sources for one page, which asks for the same once. */
  of(context: AllContext): PageSources {
    return new PageSources(this, context);
  }

  /** Throws a `SourceFailure` where no tree may ask this address. */
  check(url: URL): void {
    // Checked after the parts are put together: none of them may change where the request goes.
    if (!this.#origins.has(url.origin)) throw new SourceFailure(`is at ${url.origin}, which is not allowed`);
  }

  ask(url: URL, request: IncomingMessage | undefined, signal: AbortSignal): Promise<unknown> {
    const { headers, bytesMax = BYTES_MAX } = this.#options;
    return askUpstream(url, headers?.(url, request) ?? {}, bytesMax, signal);
  }

  /** Throws a `SourceFailure` where there is none of that name. */
  function(name: string): SourceFunction | Batched {
    const { functions = {} } = this.#options;
    const found = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (found === undefined) throw new SourceFailure(`names the function ${name}, which is not registered`);
    return found;
  }
}

/** A question of one page, and those who wait for its answer. */
class Asked {
  readonly answer: Promise<unknown>;
  /** Aborted when nobody waits for it any more. */
  readonly stop: Abort;
  #waiting = 0;
  #isAnswered = false;

  constructor(answer: Promise<unknown>, stop: Abort) {
    this.answer = answer;
    this.stop = stop;
    const settle = (): void => {
      this.#isAnswered = true;
    };
    // Also where nobody waits for it any more when it fails.
    answer.then(settle, settle);
  }

  join(): void {
    this.#waiting += 1;
  }

  /** An answer stays, for those who ask the same later; a question without is given up by the last. */
  leave(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0 && !this.#isAnswered) this.stop.abort();
  }
}

export class PageSources {
  readonly #sources: Sources;
  readonly #context: AllContext;
  readonly #asked = new Map<string, Asked>();
  readonly #batches: Batches;

  constructor(sources: Sources, context: AllContext) {
    this.#sources = sources;
    this.#context = context;
    this.#batches = new Batches(context.request);
  }

  /** Every source's value under its name, all asked for at once. Rejects with the first `SourceError`. */
  async all(
    sources: Readonly<Record<string, Source>>,
    scope: Scope,
  ): Promise<Readonly<Record<string, unknown>>> {
    const named = Object.entries(sources);
    const values = await Promise.all(named.map(async ([name, source]) => this.#one(name, source, scope)));
    return Object.fromEntries(named.map(([name], index) => [name, values[index]]));
  }

  async #one(name: string, source: Source, scope: Scope): Promise<unknown> {
    const { signal } = this.#context;
    const timeoutMs = source.timeoutMs ?? TIMEOUT_MS;
    let asked: Asked | undefined;
    try {
      if (signal.aborted) throw new SourceFailure(LEFT);
      asked = this.#ask(source, scope);
      asked.join();
      return await withDeadline(
        asked.answer,
        timeoutMs,
        () => new SourceError(name, `returned no data within ${timeoutMs} ms`, true),
      );
    } catch (thrown) {
      const error = toError(thrown);
      if (Object.hasOwn(source, 'default')) return source.default;
      if (error instanceof SourceError) throw error;
      const message = error instanceof SourceFailure ? error.message : `failed: ${error.message}`;
      throw new SourceError(name, message, false, { cause: error });
    } finally {
      // What is late goes on otherwise.
      asked?.leave();
    }
  }

  /** The question that asks the same and that somebody waits for, or a new one. */
  #ask(source: Source, scope: Scope): Asked {
    if ('url' in source) {
      const url = urlOf(source, scope);
      this.#sources.check(url);
      return this.#join(`url ${url.href}`, (stop) =>
        this.#sources.ask(url, this.#context.request, stop.signal),
      );
    }
    const called = this.#sources.function(source.source);
    const args = resolve(source.args, scope);
    return this.#join(keyOf(source.source, args), async (stop) =>
      called instanceof Batched
        ? this.#batches.ask(called, args, stop)
        : called(args, new AskContext(this.#context.request, stop)),
    );
  }

  /** Joins the question with this key; one without a key is asked for itself. */
  #join(key: string | undefined, ask: (stop: Abort) => Promise<unknown>): Asked {
    const known = key === undefined ? undefined : this.#asked.get(key);
    if (known !== undefined && !known.stop.aborted) return known;
    const stop = new Abort();
    const { signal } = this.#context;
    const leaveAll = (): void => stop.abort(signal.reason);
    const answer = Promise.race([ask(stop), whenLeft(stop)]).finally(() =>
      signal.removeEventListener('abort', leaveAll),
    );
    signal.addEventListener('abort', leaveAll);
    const asked = new Asked(answer, stop);
    if (key !== undefined) this.#asked.set(key, asked);
    return asked;
  }
}

/** Text of what a function is asked; undefined for arguments that have none, such as functions. */
function keyOf(name: string, args: unknown): string | undefined {
  try {
    return `function ${name} ${serialize(args)}`;
  } catch {
    return undefined;
  }
}

/** Rejects when nobody waits any more, whatever the source does about it. */
async function whenLeft(stop: Abortable): Promise<never> {
  return new Promise((_resolve, reject) => {
    stop.addEventListener('abort', () => reject(new SourceFailure(LEFT)));
  });
}
