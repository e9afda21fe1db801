/**
 * Components of another service: asked for by the fragment protocol, within a time limit, and left alone while the service
 * fails. Those that one page asks for at once go in one request. It must not know pages.
 */
import { createHash } from 'node:crypto';
import {
  circuitBreaker,
  CircuitState,
  ConsecutiveBreaker,
  handleWhen,
  isBrokenCircuitError,
  retry,
} from 'cockatiel';
import { reachedByPurges } from '#host/caches.js';
import { OWN_ADAPTER } from '../adapters/adapter.js';
import type { Props } from '../component.js';
import { withDeadline } from '../tasks/deadline.js';
import { HtmlCache } from '../tasks/html-cache.js';
import { toError } from '../thrown.js';
import { remoteAdapter } from './adapter.js';
import { RemoteError } from './errors.js';
import { askBatch, jobOf, ServiceError, type JobResult, type RemoteJob } from './protocol.js';

export interface RemoteOptions {
  /** Address of the service: `http://recommendations.internal/batch`. */
  readonly url: string;
  /** Milliseconds from the request to the whole answer, tries included; default 300. */
  readonly timeoutMs?: number;
  /** Further tries where the service cannot be reached or answers 502, 503 or 504; default 0. */
  readonly retries?: number;
  /** Requests that have to fail one after the other until the service is left alone; default 5. */
  readonly failuresMax?: number;
  /** Seconds for which it is left alone, before one request tries it; default 10. */
  readonly openS?: number;
  /** Bytes of one answer; default 8 MiB. */
  readonly bytesMax?: number;
  /** Components in one request; default 100. */
  readonly jobsMax?: number;
  /** Bytes of HTML that are cached, of components that say for how long; default 8 MiB. */
  readonly cacheBytesMax?: number;
  /**
   * Headers of each request, such as credentials. A request is of one page, in whose async context this is called once for the components
   * that it asks for at once. Cached HTML is used again for equal headers alone.
   */
  readonly headers?: () => RemoteHeaders;
}

export type RemoteHeaders = Readonly<Record<string, string>>;

export interface RemoteComponentOptions {
  /** Seconds for which the HTML of equal props and headers is used again; default 0. */
  readonly cacheS?: number;
  /**
   * Names of the headers that the HTML depends on: others, such as those of traces, may differ. Default: all. `Cookie`, `Authorization` and
   * `Proxy-Authorization` always count.
   */
  readonly vary?: readonly string[];
}

/** HTML of a service. */
export interface RemoteHtml {
  readonly html: string;
  readonly isCached: boolean;
  /** A part of it has failed at the service, and is its browser code's to render: no cache keeps such HTML. */
  readonly isPartial: boolean;
}

interface Waiting {
  readonly job: RemoteJob;
  readonly signal: AbortSignal;
  readonly settle: (result: JobResult) => void;
}

/** Contents of one request. */
interface Group {
  readonly headers: RemoteHeaders;
  readonly waiting: Waiting[];
}

const TIMEOUT_MS = 300;
const FAILURES_MAX = 5;
const OPEN_S = 10;
const BYTES_MAX = 8 * 1024 * 1024;
const JOBS_MAX = 100;
const CACHE_BYTES_MAX = 8 * 1024 * 1024;

/** One service. Its components share requests, cache and the count of failures. */
export class Remote {
  readonly #options: RemoteOptions;
  readonly #url: URL;
  readonly #breaker;
  readonly #retry;
  readonly #cache: HtmlCache;
  /** Groups by page, as its signal tells it, if requests have headers: those may be its visitor's. */
  readonly #groups = new Map<AbortSignal | undefined, Group>();

  /** Throws where the URL is none. */
  constructor(options: RemoteOptions) {
    this.#options = options;
    this.#url = new URL(options.url);
    this.#cache = reachedByPurges(new HtmlCache(options.cacheBytesMax ?? CACHE_BYTES_MAX));
    this.#breaker = circuitBreaker(
      // What a component threw there says nothing about the service, and a client who left nothing at all.
      handleWhen((error) => error instanceof RemoteError && error.reason !== 'aborted'),
      {
        halfOpenAfter: (options.openS ?? OPEN_S) * 1000,
        breaker: new ConsecutiveBreaker(options.failuresMax ?? FAILURES_MAX),
      },
    );
    this.#retry = retry(
      handleWhen((error) => error instanceof ServiceError && error.mayRetry),
      { maxAttempts: options.retries ?? 0 },
    );
  }

  /** Makes a view for `registry.register`: the component that the service calls `name`. */
  component(name: string, { cacheS = 0, vary }: RemoteComponentOptions = {}): RemoteView {
    return new RemoteView(this, name, cacheS, vary);
  }

  /** The service is left alone at the moment. */
  get isOpen(): boolean {
    return this.#breaker.state !== CircuitState.Closed;
  }

  /**
   * HTML of one component; rejects with `RemoteError`. Calls of one macrotask go in one request, but
   * those of two signals in two where requests have headers.
   */
  async render(
    name: string,
    props: Props,
    cacheS: number,
    signal: AbortSignal,
    vary?: readonly string[],
  ): Promise<RemoteHtml> {
    const group = this.#groupOf(signal);
    const key = cacheS > 0 ? keyOf(name, props, group.headers, vary) : undefined;
    const cached = key === undefined ? undefined : this.#cache.get(key, performance.now());
    if (cached !== undefined) return { html: cached, isCached: true, isPartial: false };
    const { purges } = this.#cache;
    const job = jobOf(name, props);
    const result = await new Promise<JobResult>((settle) => {
      group.waiting.push({ job, signal, settle });
    });
    if ('error' in result) throw result.error;
    const { html, isPartial } = result;
    if (key !== undefined && !isPartial && this.#cache.purges === purges)
      this.#cache.set(key, html, performance.now() + cacheS * 1000);
    return { html, isCached: false, isPartial };
  }

  /**
   * Returns the group of this macrotask. Its headers are those of the keys, too: HTML is never kept under headers that it was
   * not made for.
   */
  #groupOf(signal: AbortSignal): Group {
    const { headers } = this.#options;
    const page = headers === undefined ? undefined : signal;
    const known = this.#groups.get(page);
    if (known !== undefined) return known;
    const group: Group = { headers: headers?.() ?? {}, waiting: [] };
    this.#groups.set(page, group);
    queueMicrotask(() => this.#send(page, group));
    return group;
  }

  #send(page: AbortSignal | undefined, { headers, waiting }: Group): void {
    this.#groups.delete(page);
    const jobs_max = this.#options.jobsMax ?? JOBS_MAX;
    for (let from = 0; from < waiting.length; from += jobs_max)
      void this.#batch(waiting.slice(from, from + jobs_max), headers);
  }

  async #batch(waiting: readonly Waiting[], headers: RemoteHeaders): Promise<void> {
    const leave = new AbortController();
    const stop = whenAllLeave(waiting, leave);
    try {
      // A page must not wait for the one request that tries the service again.
      if (this.#breaker.state === CircuitState.HalfOpen) throw this.#leftAlone();
      const results = await this.#breaker.execute(async () => this.#ask(waiting, headers, leave));
      for (const [index, { settle }] of waiting.entries()) {
        settle(results[index] ?? { error: new RemoteError('error', 'no result') });
      }
    } catch (thrown) {
      const error = toError(thrown);
      const known = isBrokenCircuitError(error) ? this.#leftAlone(error) : error;
      const failure =
        known instanceof RemoteError
          ? known
          : new RemoteError('error', `${this.#url.host}: ${error.name}: ${error.message}`);
      for (const { settle } of waiting) settle({ error: failure });
    } finally {
      stop();
    }
  }

  async #ask(
    waiting: readonly Waiting[],
    headers: RemoteHeaders,
    leave: AbortController,
  ): Promise<readonly JobResult[]> {
    const { bytesMax = BYTES_MAX, timeoutMs = TIMEOUT_MS } = this.#options;
    const late = new AbortController();
    const signal = AbortSignal.any([leave.signal, late.signal]);
    const jobs = waiting.map(({ job }) => job);
    try {
      return await withDeadline(
        this.#retry.execute(async () => askBatch(this.#url, jobs, headers, bytesMax, signal)),
        timeoutMs,
        () => new RemoteError('late', `${this.#url.host} did not answer within ${timeoutMs} ms`),
      );
    } catch (error) {
      if (leave.signal.aborted)
        throw new RemoteError('aborted', 'the call is no longer needed', { cause: error });
      throw error;
    } finally {
      late.abort();
    }
  }

  #leftAlone(cause?: unknown): RemoteError {
    return new RemoteError('open', `${this.#url.host} failed too often, and is not called for now`, {
      cause,
    });
  }
}

export function createRemote(options: RemoteOptions): Remote {
  return new Remote(options);
}

/** A component of a remote service, as a registry has it. */
export class RemoteView {
  readonly [OWN_ADAPTER] = remoteAdapter;
  readonly remote: Remote;
  readonly name: string;
  readonly cacheS: number;
  readonly vary: readonly string[] | undefined;

  constructor(remote: Remote, name: string, cacheS: number, vary?: readonly string[]) {
    this.remote = remote;
    this.name = name;
    this.cacheS = cacheS;
    this.vary = vary;
  }

  async render(props: Props, signal: AbortSignal): Promise<RemoteHtml> {
    return this.remote.render(this.name, props, this.cacheS, signal, this.vary);
  }
}

/** Aborts when the last of them has left. */
function whenAllLeave(waiting: readonly Waiting[], leave: AbortController): () => void {
  const look = (): void => {
    if (waiting.every(({ signal }) => signal.aborted)) leave.abort();
  };
  const signals = new Set(waiting.map(({ signal }) => signal));
  for (const signal of signals) signal.addEventListener('abort', look);
  look();
  return () => {
    for (const signal of signals) signal.removeEventListener('abort', look);
  };
}

/** Headers with credentials: no cached HTML is used again for other values of them. */
const CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization'];

/** A hash: headers may be credentials, which are not to be kept. */
function keyOf(name: string, props: Props, headers: RemoteHeaders, vary?: readonly string[]): string {
  const wanted = vary && new Set([...CREDENTIALS, ...vary.map((each) => each.toLowerCase())]);
  const varied = Object.entries(headers)
    .map(([header, value]) => [header.toLowerCase(), value] as const)
    .filter(([header]) => wanted?.has(header) ?? true)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([name, sorted(props), varied]))
    .digest('base64');
}

/** Keys in order, so that the same props give the same text. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  if ('toJSON' in value) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
