/**
 * Host that `@sluice/graph` finds in a worker: a receiver of what routes and pages do. Reports are summed up and told once a second.
 * It must not know what a route is.
 */
import type { Control } from '../control/control.js';
import type { GraphPathReport, GraphRouteReport } from '../control/messages.js';
import { cut, OTHER, Telling, within } from './sums.js';

/** Symbol of the host. The number changes with its shape. */
const HOST = Symbol.for('sluice.graph.1');

/** Maximum number of rows in one report. Routes, and patterns of paths. The rest counts as `other`. */
const ROWS_MAX = 500;
/** Maximum length of a reported route or pattern, characters. */
const NAME_CHARACTERS_MAX = 200;
/** Maximum length of a reported error, characters. */
const ERROR_CHARACTERS_MAX = 300;
/** Maximum length of a row's name in memory, characters. A method and a route. */
const KEY_CHARACTERS_MAX = 2 * NAME_CHARACTERS_MAX + 1;
/** Maximum number of rows in one line, which stays below 1 MiB with any characters. */
const LINE_ROWS_MAX = 250;
/** Maximum count in one report. Sums of a second stay whole numbers. */
const COUNT_MAX = 1e9;

/** Reports of any version of the package: every property may be absent, or another thing. */
type Report = Readonly<Record<string, unknown>>;

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };
type RouteRow = Writable<GraphRouteReport>;
type PathRow = Writable<GraphPathReport>;

const NOTHING = { pages: 0, page_requests: 0, fetches: 0 };
const ROUTE_COUNTS = ['calls', 'paths', 'failures', 'denied', 'unanswered'] as const;
const PATH_COUNTS = ['asked', 'fetched', 'brought', 'unread', 'again'] as const;

/** Puts the host where the app's copies of `@sluice/graph` look for it. */
export function offerGraphHost(control: Control): void {
  Object.defineProperty(globalThis, HOST, { value: new GraphUse(control).host });
}

export class GraphUse {
  readonly #control: Control;
  readonly #telling = new Telling(() => this.#tell());
  #routes = new Map<string, RouteRow>();
  #paths = new Map<string, PathRow>();
  #counts = { ...NOTHING };

  constructor(control: Control) {
    this.#control = control;
  }

  /** Host for the app's code; a report that is none is ignored, as a request must not fail because of it. */
  readonly host = Object.freeze({
    called: (report: Report): void => {
      const [route, method] = [textOf(report['route']), textOf(report['method'])];
      const row = within(this.#routes, `${method} ${route}`, ROWS_MAX, KEY_CHARACTERS_MAX, (name) =>
        name === OTHER ? newRoute(OTHER, OTHER) : newRoute(route, method),
      );
      for (const name of ROUTE_COUNTS) row[name] += countOf(report[name]);
      const time_us = countOf(report['ms'], 1000);
      row.time_us += time_us;
      row.time_us_max = Math.max(row.time_us_max, time_us);
      const { error } = report;
      if (typeof error === 'string') row.error = cut(error, ERROR_CHARACTERS_MAX);
      this.#telling.soon();
    },
    used: (report: Report): void => {
      this.#counts.pages += countOf(report['pages']);
      this.#counts.page_requests += countOf(report['requests']);
      this.#counts.fetches += countOf(report['fetches']);
      const paths = Array.isArray(report['paths']) ? (report['paths'] as readonly Report[]) : [];
      for (const one of paths) {
        const row = within(this.#paths, one['path'], ROWS_MAX, NAME_CHARACTERS_MAX, newPath);
        for (const name of PATH_COUNTS) row[name] += countOf(one[name]);
      }
      this.#telling.soon();
    },
  });

  #tell(): void {
    const routes = [...this.#routes.values()];
    const paths = [...this.#paths.values()];
    let counts = this.#counts;
    this.#routes = new Map();
    this.#paths = new Map();
    this.#counts = { ...NOTHING };
    while (routes.length + paths.length + counts.pages + counts.fetches > 0) {
      const graph_routes = routes.splice(0, LINE_ROWS_MAX);
      const graph_paths = graph_routes.length > 0 ? [] : paths.splice(0, LINE_ROWS_MAX);
      this.#control.send({ type: 'graph', graph_routes, graph_paths, ...counts });
      counts = NOTHING;
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' && value !== '' ? cut(value, NAME_CHARACTERS_MAX) : OTHER;
}

/** Whole number of a report, times `scale`; 0 where it is none. */
function countOf(value: unknown, scale = 1): number {
  return typeof value === 'number' && value > 0 ? Math.min(Math.round(value * scale), COUNT_MAX) : 0;
}

function newRoute(route: string, method: string): RouteRow {
  const counts = { calls: 0, paths: 0, time_us: 0, time_us_max: 0, failures: 0, denied: 0, unanswered: 0 };
  return { route, method, ...counts };
}

function newPath(path: string): PathRow {
  return { path, asked: 0, fetched: 0, brought: 0, unread: 0, again: 0 };
}
