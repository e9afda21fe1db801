/** Paths that a level asks one route for, and the calls of its handler. */
import type { RouteError } from './errors.js';
import type { Refusing } from './outputs.js';
import type { Route } from './route.js';
import { countSets, split, type Sets } from './sets.js';
import type { Method } from './trie.js';

/** Paths of one route that are asked for together. */
export class Batch<Data> {
  /** Undefined for paths that no route matches. */
  readonly route: Route<Data> | undefined;
  readonly method: Method;
  /** Whole paths, of which the route matches the first steps. */
  readonly pieces: Sets[];
  /** Paths that wait because their first steps are being fetched. */
  readonly waiting: Sets[] = [];
  /** Calls that have not ended, and those of them whose handlers were called. */
  open = 0;
  readonly running = new Set<Call<Data>>();

  constructor(route: Route<Data> | undefined, method: Method, pieces: Sets[]) {
    this.route = route;
    this.method = method;
    this.pieces = pieces;
  }

  /** Whether references in the results may lead to paths of the next level. */
  get isBlocking(): boolean {
    const length = this.route?.steps.length ?? 0;
    return this.pieces.some((sets) => sets.length > length);
  }
}

/** Receiver of errors that clients do not see. */
export interface Reporter<Data> {
  report(error: unknown, route: Route<Data> | undefined, method: Method): void;
}

/** Call of a handler. */
export class Call<Data> implements Refusing {
  readonly batch: Batch<Data>;
  readonly route: Route<Data>;
  /** Whole paths that the handler may give values for. */
  readonly pieces: readonly Sets[];
  /** Number of single paths that the route matches. */
  readonly paths: number;
  /** Time of the call, ms of `performance.now()`. */
  readonly started = performance.now();
  readonly #reporter: Reporter<Data>;
  /** First value that was not taken. */
  refused: RouteError | undefined;

  constructor(
    reporter: Reporter<Data>,
    batch: Batch<Data>,
    route: Route<Data>,
    pieces: readonly Sets[],
    match: Sets,
  ) {
    this.#reporter = reporter;
    this.batch = batch;
    this.route = route;
    this.pieces = pieces;
    this.paths = countSets(match);
    batch.running.add(this);
  }

  /** Notes values that were not taken; one call reports one of them. */
  refuse(error: RouteError): void {
    if (this.refused !== undefined) return;
    this.refused = error;
    this.#reporter.report(error, this.route, this.batch.method);
  }
}

/** Parts of the paths that a match is for. */
export function within(pieces: readonly Sets[], match: Sets): Sets[] {
  const parts: Sets[] = [];
  for (const piece of pieces) {
    const found = split(piece, match);
    if (found !== undefined) parts.push(found[0]);
  }
  return parts;
}
