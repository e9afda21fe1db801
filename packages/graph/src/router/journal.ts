/** Reports of a router's requests: errors that clients do not see, and the figures of routes. Nothing here throws. */
import type { Reporter } from './batch.js';
import type { Route } from './route.js';
import type { RouteEvent } from './stats.js';
import type { Method } from './trie.js';

/** Hooks of an app. */
export interface Hooks {
  readonly onError?: ((error: unknown, place: RoutePlace) => void) | undefined;
  readonly onRoute?: ((event: RouteEvent) => void) | undefined;
}

/** Route and method that an error comes from. */
export interface RoutePlace {
  /** Text of the route; `(unhandled)` for the data source of unhandled paths. */
  readonly route: string;
  readonly method: Method;
}

export class Journal<Data> implements Reporter<Data> {
  readonly #hooks: Hooks;

  constructor(hooks: Hooks) {
    this.#hooks = hooks;
  }

  report(error: unknown, route: Route<Data> | undefined, method: Method): void {
    const { onError = logError } = this.#hooks;
    try {
      onError(error, { route: route?.text ?? '(unhandled)', method });
    } catch (failure) {
      console.error(failure);
    }
  }

  /** Counts a call of a handler. */
  measured(route: Route<Data>, method: Method, ms: number, error: unknown): void {
    const stats = route.stats[method];
    stats.calls++;
    stats.ms += ms;
    if (ms > stats.msMax) stats.msMax = ms;
    if (error !== undefined) stats.failures++;
    const { onRoute } = this.#hooks;
    if (onRoute === undefined) return;
    try {
      onRoute({ route: route.text, method, ms, ...(error === undefined ? {} : { error }) });
    } catch (failure) {
      this.report(failure, route, method);
    }
  }
}

function logError(error: unknown, { route, method }: RoutePlace): void {
  console.error(`${method} ${route}:`, error);
}
