/** Answers of a router over Falcor's HTTP protocol, whole or line by line. It must not know servers. */
import { createHash } from 'node:crypto';
import type { Envelope, JsonGraph, PathSet } from '../types.js';
import { RouteError, routeError } from '../router/errors.js';
import type { Router } from '../router/router.js';
import { tellFetch } from '../seeing/uses.js';
import type { Answer, Answering, Incoming, WireRequest } from './exchange.js';
import { isForeign, type OriginCheck } from './origins.js';
import { readRequest, type GraphRequest } from './request.js';
import { HELD_HEADER } from './source.js';
import { tagsOf } from './tags.js';

export interface WireOptions<Data> {
  /** Path of the graph. Default: `/model.json`. */
  readonly path?: string;
  /** Data of a request for the handlers of routes: `context.data`. A `RouteError` that it throws is the answer. */
  readonly data?: (request: WireRequest) => Data | Promise<Data>;
  /** Bounds the bytes of a body. Default: 1 MiB. */
  readonly bytesMax?: number;
  /**
   * `Cache-Control` of answers to GET, or a function that decides by the paths. Answers that shared caches may keep have the header
   * `Cache-Tag`, too; those with too many tags are private instead: see `graphTag`. Answers with an `$error` are never cached. Requests with `Authorization` get the default, unless a function
   * decides. Default: `private, no-cache`.
   */
  readonly cacheControl?: string | ((paths: readonly PathSet[], request: WireRequest) => string | undefined);
  /**
   * Whether pages of other origins may POST, thus `set` and `call`, or a function that decides by the value of `Origin`. Sub-domains are other
   * origins. Default: false.
   */
  readonly isCrossSite?: OriginCheck;
  /** Called with errors that clients do not see. Default: `console.error`. */
  readonly onError?: (error: unknown, request: WireRequest) => void;
}

const BYTES_MAX = 1_048_576;
const PRIVATE = 'private, no-cache';
const NOT_KEPT = { 'cache-control': 'no-store' };
const NDJSON = 'application/x-ndjson';
/** Clients of Falcor's protocol send `X-Requested-With`, for which Sluice and other caches keep an answer only where `Vary` names it. */
const VARY = 'Accept, X-Requested-With';

export function answeringOf<Data>(router: Router<Data>, options: WireOptions<Data> = {}): Answering {
  const wire = new Wire(router, options);
  return async (request) => wire.answer(request);
}

class Wire<Data> {
  readonly #router: Router<Data>;
  readonly #options: WireOptions<Data>;
  readonly #path: string;

  constructor(router: Router<Data>, options: WireOptions<Data>) {
    this.#router = router;
    this.#options = options;
    this.#path = options.path ?? '/model.json';
  }

  async answer(request: Incoming): Promise<Answer | undefined> {
    if (pathOf(request.url) !== this.#path) return undefined;
    try {
      return await this.#answer(request);
    } catch (error) {
      return this.#errorAnswer(error, request);
    }
  }

  async #answer(request: Incoming): Promise<Answer> {
    const { bytesMax = BYTES_MAX, isCrossSite = false, data } = this.#options;
    if (request.method === 'POST' && isForeign(request, isCrossSite))
      throw routeError('SLU-GRAPH-ORIGIN', 'Pages of other origins may not change data');
    const asked = await readRequest(request, bytesMax);
    const own = data === undefined ? {} : { data: await data(request) };
    const options = { ...own, signal: request.signal };
    switch (asked.method) {
      case 'get':
        if (isStream(request)) return await this.#stream(asked.paths, options, request);
        return this.#got(asked, await this.#router.get(asked.paths, options), request);
      case 'set':
        return jsonAnswer(200, await this.#router.set(asked.envelope, options), NOT_KEPT);
      case 'call': {
        const { path, args, refSuffixes, thisPaths } = asked;
        const envelope = await this.#router.call(path, args, refSuffixes, thisPaths, options);
        return jsonAnswer(200, envelope, NOT_KEPT);
      }
    }
  }

  #got(
    { paths }: Extract<GraphRequest, { method: 'get' }>,
    { jsonGraph }: Envelope,
    request: Incoming,
  ): Answer {
    tellFetch(paths, request.headers[HELD_HEADER]);
    const text = JSON.stringify({ jsonGraph });
    if (request.method === 'POST' || text.includes('"$type":"error"')) return answerOf(200, text, NOT_KEPT);
    const headers = this.#cacheHeaders(paths, jsonGraph, request);
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
    const kept = { ...headers, etag, vary: VARY };
    if (isSame(request.headers['if-none-match'], etag)) return { status: 304, headers: kept, body: '' };
    return answerOf(200, text, kept);
  }

  #cacheHeaders(
    paths: readonly PathSet[],
    graph: JsonGraph,
    request: WireRequest,
  ): Readonly<Record<string, string>> {
    const { cacheControl } = this.#options;
    const isOwn = request.headers['authorization'] !== undefined;
    const value =
      (typeof cacheControl === 'function' ? cacheControl(paths, request) : isOwn ? PRIVATE : cacheControl) ??
      PRIVATE;
    if (/\b(?:private|no-store)\b/i.test(value)) return { 'cache-control': value };
    const tags = tagsOf(graph);
    // A shared cache that cannot be told to drop the answer must not keep it.
    return tags === undefined ? { 'cache-control': PRIVATE } : { 'cache-control': value, 'cache-tag': tags };
  }

  /** Lines of JSON: a part each, and a last one that says whether all have come. Errors before the first part have a status. */
  async #stream(
    paths: readonly PathSet[],
    options: { readonly data?: Data; readonly signal: AbortSignal },
    request: Incoming,
  ): Promise<Answer> {
    const stall = new AbortController();
    const onStall = (error: RouteError): void => {
      this.#report(error, request);
      stall.abort(error);
    };
    const parts = this.#router.stream(paths, { ...options, onStall })[Symbol.asyncIterator]();
    const first = await parts.next();
    tellFetch(paths, request.headers[HELD_HEADER]);
    return {
      status: 200,
      headers: { ...NOT_KEPT, 'content-type': NDJSON, vary: 'Accept', ...SAFE },
      body: this.#lines(first, parts, request, stall.signal),
      stalled: stall.signal,
    };
  }

  async *#lines(
    first: IteratorResult<Envelope>,
    parts: AsyncIterator<Envelope>,
    request: Incoming,
    stalled: AbortSignal,
  ): AsyncGenerator<string> {
    let isDone = false;
    try {
      for (let next = first; next.done !== true; next = await parts.next()) {
        yield `${JSON.stringify(next.value)}\n`;
      }
      isDone = true;
      yield '{"end":true}\n';
    } catch (error) {
      // Node.js throws into the lines of a response that is closed.
      if (stalled.aborted) return;
      isDone = true;
      const { body } = this.#errorAnswer(error, request);
      yield `${body as string}\n`;
    } finally {
      if (!isDone) await parts.return?.();
    }
  }

  /** Clients get the message of a `RouteError`, and of no other. */
  #errorAnswer(thrown: unknown, request: Incoming): Answer {
    const isTold = thrown instanceof RouteError;
    // The router has reported what its handlers threw.
    const isNew = !isTold || (thrown.statusCode >= 500 && thrown.code !== 'SLU-GRAPH-HANDLER');
    if (isNew && !request.signal.aborted) this.#report(thrown, request);
    const error = isTold ? thrown : routeError('SLU-GRAPH-INTERNAL', 'Internal error');
    const { statusCode, message, code } = error;
    const allow = code === 'SLU-GRAPH-METHOD' ? { allow: 'GET, HEAD, POST' } : {};
    return jsonAnswer(statusCode, { error: message, code }, { ...NOT_KEPT, ...allow });
  }

  #report(error: unknown, request: WireRequest): void {
    const { onError = logError } = this.#options;
    try {
      onError(error, request);
    } catch (failure) {
      logError(failure, request);
    }
  }
}

/** Answers are data, whatever they look like. */
const SAFE = { 'x-content-type-options': 'nosniff' };

function jsonAnswer(status: number, value: unknown, headers: Readonly<Record<string, string>>): Answer {
  return answerOf(status, JSON.stringify(value), headers);
}

function answerOf(status: number, body: string, headers: Readonly<Record<string, string>>): Answer {
  return {
    status,
    headers: { ...headers, ...SAFE, 'content-type': 'application/json; charset=utf-8' },
    body,
  };
}

function isStream(request: WireRequest): boolean {
  // Nobody would read the lines of a HEAD.
  return request.method !== 'HEAD' && (request.headers['accept'] ?? '').toLowerCase().includes(NDJSON);
}

/** Whether a list of validators has this one. */
function isSame(validators: string | undefined, etag: string): boolean {
  if (validators === undefined) return false;
  return validators.split(',').some((one) => [etag, '*'].includes(one.trim().replace(/^W\//, '')));
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/** The query stays out of the log: it may have data of the user. */
function logError(error: unknown, { method, url }: WireRequest): void {
  console.error(`${method} ${pathOf(url)}:`, error);
}
