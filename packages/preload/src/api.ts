/**
 * What an app imports from `@sluice/preload`: hooks around each request. The preload, loaded by the gateway, is another
 * instance of this package, so the two meet at a global symbol. Where it is missing, the app runs without Sluice: the
 * hooks are accepted and never called.
 *
 * It is built twice, for `import` and for `require`, so it must keep nothing itself.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Registry, registryKey } from './registry.js';

/** A request as the app gets it. */
export interface HookedRequest {
  readonly request: IncomingMessage;
  /** Undefined for an upgrade or a CONNECT, whose response is what the app writes to `request.socket`. */
  readonly response: ServerResponse | undefined;
  /** `X-Request-Id`, as in the gateway's log. */
  readonly id: string;
}

/**
 * How it ended: its response is written whole; it broke off, because the client left or the app destroyed it; or it has
 * left its slot at the headers and goes on as an event stream or an upgraded connection.
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
