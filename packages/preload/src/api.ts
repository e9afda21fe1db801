/**
 * Module that an app imports as `@sluice/preload`: hooks around each request, purges of pages, and messages between workers. The preload, loaded by the gateway, is
 * another instance of this package, so the two meet at a global symbol. Without the symbol, the app runs without Sluice: the hooks are
 * accepted and never called, there are no pages to purge, and no other workers.
 *
 * It is built twice, for `import` and for `require`, so it must keep nothing itself.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { channelKey, type Purge, type Registry, purgeKey, registryKey } from './requests/registry.js';

export { replaceable, type Replaceable, type RouterFunction } from './replaceable.js';

/** A request as the app gets it. */
export interface HookedRequest {
  readonly request: IncomingMessage;
  /** Undefined for an upgrade or a CONNECT, whose response is what the app writes to `request.socket`. */
  readonly response: ServerResponse | undefined;
  /** `X-Request-Id`, as in the gateway's log. */
  readonly id: string;
}

/**
 * End of the request: its response is written whole; it broke off, because the client left or the app destroyed it; or
 * it has left its slot at the headers. It then continues as an event stream or an upgraded connection.
 */
export type Outcome = 'answered' | 'aborted' | 'stream' | 'upgrade';

export interface FinishedRequest extends HookedRequest {
  /** CPU time of the whole process since the request was let in, `beforeRequest` hooks included. */
  readonly cpu_ms: number;
  readonly duration_ms: number;
  readonly outcome: Outcome;
}

export type Hook<T extends HookedRequest = HookedRequest> = (request: T) => void | Promise<void>;
export type Unsubscribe = () => void;

/** Pages that the gateway keeps: one of the first four. */
export interface Pages {
  /** `https://host/path?query`, or `/path?query` for the page on all hosts. */
  readonly url?: string;
  /** The beginning of URLs, or of paths on all hosts. */
  readonly prefix?: string;
  /** One of `Cache-Tag`, `Surrogate-Key`, or the tags of `<Cached>` parts. */
  readonly tag?: string;
  readonly all?: true;
  /** Whether pages stay as stale ones: used while new ones are rendered, or if none can be. */
  readonly soft?: boolean;
}

const registry = (globalThis as { readonly [registryKey]?: Registry })[registryKey];
const unsubscribeNothing: Unsubscribe = () => {};

/** Whether hooks are called: true in a worker of Sluice. */
export const isSluice: boolean = registry !== undefined;

/**
 * Runs before the app sees a request. What it returns is awaited. A hook that ends the response has answered: the app
 * does not see the request. If one throws, the client gets 500 and the app does not see the request either.
 */
export function beforeRequest(hook: Hook): Unsubscribe {
  return registry?.addBefore(hook) ?? unsubscribeNothing;
}

/**
 * Runs when a request has ended or has become a stream, before the app gets the next one. What it returns is awaited,
 * for 5 s at most. An error goes to stderr and changes nothing.
 */
export function afterRequest(hook: Hook<FinishedRequest>): Unsubscribe {
  return registry?.addAfter(hook) ?? unsubscribeNothing;
}

/** The same, after all `afterRequest` hooks: the place to put global state back, so that no request sees another's. */
export function onReset(hook: Hook): Unsubscribe {
  return registry?.addReset(hook) ?? unsubscribeNothing;
}

/**
 * Purges pages of the gateway, and in all workers the parts of pages with that tag (`<Cached>`, `cacheTags` of `@sluice/render`). By URL or
 * prefix, pages there use no older HTML of components with a `cacheKey`. Resolves with the number of pages when
 * that is done: nobody who asks from then on gets an old one. Resolves with 0 without Sluice, before this process listens, and in a process
 * or thread that does not serve.
 *
 * Rejects with a TypeError where it is not said which pages, and with a RangeError while too many purges wait.
 */
export function purge(pages: Pages): Promise<number> {
  const { url, prefix, tag, all } = pages;
  const texts = [url, prefix, tag].filter((text) => text !== undefined);
  const isOne = texts.length + (all === true ? 1 : 0) === 1;
  const isUrl = (text: string | undefined): boolean => text === undefined || /^(https?:\/)?\//i.test(text);
  const isText = texts.every((text) => typeof text === 'string' && text.length > 0 && text.length <= 1024);
  if (!isOne || !isText || !isUrl(url) || !isUrl(prefix))
    return Promise.reject(
      new TypeError(
        'purge needs one of url, prefix, tag and all: true, as in purge({ tag: "product-1" }). URLs begin with https://, http:// or /, and texts may have 1,024 characters at most',
      ),
    );
  const purging = (globalThis as { readonly [purgeKey]?: Purge })[purgeKey];
  return purging?.(pages) ?? Promise.resolve(0);
}

/** Messages between the workers of an app. A worker takes part once it has used the channel and listens. */
export interface Channel {
  /** Number of this worker, as `sluice status` shows it; undefined without Sluice. No other one ever has it. */
  readonly worker: number | undefined;
  /** Numbers of the others that take part, in ascending order. */
  readonly workers: readonly number[];
  /** Calls the listener with each message and the number of the worker that sent it, in the order of its sender. */
  on(event: 'message', listener: (message: unknown, from: number) => void): void;
  off(event: 'message', listener: (message: unknown, from: number) => void): void;
  /**
   * Sends a message, copied as JSON, to another worker. Returns false if that one does not take part, or if more than 4 MiB wait for it.
   *
   * @throws {TypeError} for what JSON cannot hold, {@link RangeError} for more than 1,048,576 characters.
   */
  send(to: number, message: unknown): boolean;
  /**
   * Sends a message to all others that take part. Returns the numbers of those that miss it, because more than 4 MiB wait for them.
   *
   * @throws {TypeError} for what JSON cannot hold, {@link RangeError} for more than 1,048,576 characters, and for more than 100 messages
   *   before this worker listens.
   */
  broadcast(message: unknown): readonly number[];
}

const alone: Channel = {
  worker: undefined,
  workers: [],
  on: () => {},
  off: () => {},
  send: () => false,
  broadcast: () => [],
};

/** The channel to the other workers. Without Sluice, there are none. */
export const channel: Channel = (globalThis as { readonly [channelKey]?: Channel })[channelKey] ?? alone;
