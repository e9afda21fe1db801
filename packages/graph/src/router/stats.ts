/** Figures of routes. */
import type { Method } from './trie.js';

/** Sums of one route and method since the router was made. */
export interface RouteStats {
  calls: number;
  /** Single paths that the calls were for. */
  paths: number;
  /** Single paths that calls gave nothing for. */
  unanswered: number;
  /** Calls that threw, took too long, or gave values that are not JSON Graph. */
  failures: number;
  /** Calls some of whose paths `authorize` denied. */
  denied: number;
  /** Time from the calls to their results, ms. Calls of one request overlap. */
  ms: number;
  /** Longest call, ms. */
  msMax: number;
}

export interface RouteFigures extends Readonly<RouteStats> {
  readonly route: string;
  readonly method: Method;
}

/** One call of a handler. */
export interface RouteEvent {
  readonly route: string;
  readonly method: Method;
  /** Time from the call to its result, ms. */
  readonly ms: number;
  /** Set where the call failed. */
  readonly error?: unknown;
}
