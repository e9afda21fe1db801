/** Reports of a router's requests: errors that clients do not see, and the figures of routes, which Sluice gets as well. Nothing here throws. */
import { errorText, graphHost } from '../seeing/host.js';
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

const UNHANDLED = '(unhandled)';

/** Call of a handler that is over. */
export interface Ended {
  /** Single paths that it was for. */
  readonly paths: number;
  /** Time from the call to its result, ms. */
  readonly ms: number;
  /** Error of a call that failed, else undefined. */
  readonly error: unknown;
}

export class Journal<Data> implements Reporter<Data> {
  readonly #hooks: Hooks;

  constructor(hooks: Hooks) {
    this.#hooks = hooks;
  }

  report(error: unknown, route: Route<Data> | undefined, method: Method): void {
    const { onError = logError } = this.#hooks;
    try {
      onError(error, { route: route?.text ?? UNHANDLED, method });
    } catch (failure) {
      console.error(failure);
    }
  }

  /** Counts a call of a handler. */
  measured(route: Route<Data>, method: Method, { paths, ms, error }: Ended): void {
    const stats = route.stats[method];
    stats.calls++;
    stats.paths += paths;
    stats.ms += ms;
    if (ms > stats.msMax) stats.msMax = ms;
    const hasFailed = error !== undefined;
    if (hasFailed) stats.failures++;
    const own = { route: route.text, method, ms };
    graphHost()?.called({
      ...own,
      calls: 1,
      paths,
      ...(hasFailed && { failures: 1, error: errorText(error) }),
    });
    const { onRoute } = this.#hooks;
    if (onRoute === undefined) return;
    try {
      onRoute(hasFailed ? { ...own, error } : own);
    } catch (thrown) {
      this.report(thrown, route, method);
    }
  }

  /** Counts a call some of whose paths are denied. */
  denied(route: Route<Data>, method: Method): void {
    route.stats[method].denied++;
    graphHost()?.called({ route: route.text, method, denied: 1 });
  }

  /** Counts single paths that got no value: of a route, or of none. */
  unanswered(route: Route<Data> | undefined, method: Method, paths: number): void {
    if (route !== undefined) route.stats[method].unanswered += paths;
    graphHost()?.called({ route: route?.text ?? UNHANDLED, method, unanswered: paths });
  }
}

function logError(error: unknown, { route, method }: RoutePlace): void {
  console.error(`${method} ${route}:`, error);
}
