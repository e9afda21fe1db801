/** Router: a graph that is made of routes, and a data source for models, wires and other routers. */
import { toPath } from '../paths/index.js';
import { nameKeys } from '../seeing/patterns.js';
import type { DataSource, Envelope, Path, PathInput, PathSet, SourceOptions } from '../types.js';
import { callRoute } from './call.js';
import { SchemaChecks } from './checks.js';
import { RequestContext, type LoaderFunctions } from './context.js';
import type { Core } from './core.js';
import { routeError, type RouteError } from './errors.js';
import { Given } from './given.js';
import { Route, type RouteDefinition } from './route.js';
import { Parts } from './parts.js';
import { Journal, type RoutePlace } from './journal.js';
import { limitsOf, type Limits } from './limits.js';
import { Run } from './run.js';
import type { GraphSchema } from './schema.js';
import { plainSets } from './sets.js';
import type { RouteEvent, RouteFigures } from './stats.js';
import { Trie, type Method } from './trie.js';

export interface RouterOptions<Data> extends Partial<Limits> {
  /** Functions that load values by key for `context.load(name, key)`, in batches, each key once a request. */
  readonly loaders?: LoaderFunctions<Data>;
  /** Schema of the graph: routes have to be in it, and what clients set and call is checked by it. See `typedGraph`. */
  readonly schema?: GraphSchema;
  /** Answers the paths that no route matches; without it they have no value. */
  readonly unhandled?: DataSource;
  /** Called with errors of handlers, which clients do not see. Default: `console.error`. */
  readonly onError?: (error: unknown, place: RoutePlace) => void;
  /** Called after each call of a handler. */
  readonly onRoute?: (event: RouteEvent) => void;
}

/** Options of one request. */
export interface RequestOptions<Data> extends SourceOptions {
  /** Data of the request for handlers: `context.data`. */
  readonly data?: Data;
}

export interface StreamOptions<Data> extends RequestOptions<Data> {
  /** Called when the reader has taken no part for `timeoutMs`, which has ended the stream. */
  readonly onStall?: (error: RouteError) => void;
}

/**
 * Router of JSON Graph requests. One serves all users: what a request has of its own is in its context.
 *
 * ```ts
 * const router = new Router<{ user: string }>([
 *   route('lists[{keys:names}][{integers:places}]', { get: … }),
 *   route('titlesById[{integers:ids}]["name", "year"]', { get: … }),
 * ]);
 * await router.get([['lists', 'mine', { to: 9 }, 'name']], { data: { user: 'ann' } });
 * ```
 */
export class Router<Data = unknown> {
  readonly #routes: readonly Route<Data>[];
  readonly #limits: Limits;
  readonly #trie: Trie<Route<Data>>;
  readonly #options: RouterOptions<Data>;
  readonly #checks: SchemaChecks | undefined;
  #core: Core<Data>;

  /** Throws where a route is malformed, or two routes have the same paths. */
  constructor(routes: readonly RouteDefinition<Data>[], options: RouterOptions<Data> = {}) {
    this.#routes = routes.map((definition) => new Route(definition));
    this.#trie = new Trie(this.#routes);
    this.#options = options;
    this.#checks = options.schema === undefined ? undefined : new SchemaChecks(options.schema);
    for (const { text, steps } of this.#routes) {
      this.#checks?.route(text);
      for (const step of steps) if (step.kind === 'literal') nameKeys(step.keys);
    }
    this.#limits = limitsOf(options);
    this.#core = this.#coreWith(options.unhandled);
  }

  get limits(): Limits {
    return this.#limits;
  }

  #coreWith(unhandled: DataSource | undefined): Core<Data> {
    const { onError, onRoute } = this.#options;
    const journal = new Journal<Data>({ onError, onRoute });
    return { trie: this.#trie, checks: this.#checks, limits: this.#limits, unhandled, journal };
  }

  /** Sets the data source of paths that no route matches. Requests that are under way keep theirs. */
  routeUnhandledPathsTo(source: DataSource): void {
    this.#core = this.#coreWith(source);
  }

  /**
   * Gets the values of paths. Paths without a value get an atom without one, paths that failed an `$error`.
   *
   * Rejects with a `RouteError` where a limit is passed or a path is malformed, and with the reason of `signal`.
   */
  async get(paths: readonly PathSet[], options: RequestOptions<Data> = {}): Promise<Envelope> {
    const sets = plainSets(paths, this.#limits);
    return this.#within(new Run(this.#core, this.#context(options), 'get'), options, async (run) => {
      await run.resolve(sets);
      return run.answer();
    });
  }

  /**
   * Gets the values of paths in parts, as they come. A part has the paths that its values are for. Each value comes once, and is not held after
   * that; of two values for a path the first counts. While four parts wait for a reader, no further level starts, and generators of handlers
   * are not asked for more. `timeoutMs` bounds the time since then, and the time that the reader takes no part for: the parts that wait are
   * dropped then, and the stream ends with an error.
   */
  stream(paths: readonly PathSet[], options: StreamOptions<Data> = {}): AsyncIterable<Envelope> {
    return new Parts(async (receiver, signal) => {
      const sets = plainSets(paths, this.#limits);
      const run = new Run(this.#core, this.#context(options), 'get', { receiver });
      await this.#within(run, { signal }, () => run.resolve(sets));
    }, options);
  }

  /** Sets values, and answers them as they are then. */
  async set(envelope: Envelope, options: RequestOptions<Data> = {}): Promise<Envelope> {
    const { jsonGraph, paths } = isObject(envelope) ? envelope : ({} as Partial<Envelope>);
    if (!isObject(jsonGraph))
      throw routeError('SLU-GRAPH-INVALID', 'Setting values needs a `jsonGraph` with `paths`');
    const sets = plainSets(paths, this.#limits);
    const { referencesMax, depthMax } = this.#limits;
    const given = new Given(jsonGraph, sets, referencesMax, depthMax);
    const run = new Run(this.#core, this.#context(options), 'set', { given });
    return this.#within(run, options, async () => {
      await run.resolve(sets);
      return run.answer();
    });
  }

  /**
   * Calls a function of the graph. `refSuffixes` are paths to get below each reference that the function gives, `thisPaths` those to get from the
   * object that has the function.
   */
  async call(
    path: PathInput,
    args: readonly unknown[] = [],
    refSuffixes: readonly PathSet[] = [],
    thisPaths: readonly PathSet[] = [],
    options: RequestOptions<Data> = {},
  ): Promise<Envelope> {
    const request = {
      path: callPathOf(path, this.#limits),
      args,
      refSuffixes: plainSets(refSuffixes, this.#limits),
      thisPaths: plainSets(thisPaths, this.#limits),
    };
    const context = this.#context(options);
    const run = new Run(this.#core, context, 'call');
    return this.#within(run, options, () => callRoute(run, this.#core, context, request));
  }

  /** Data source for a model on the server, whose requests all have the same data. Values come in parts with `isStream`. */
  asDataSource(
    data?: Data,
    { isStream = false }: { readonly isStream?: boolean } = {},
  ): Required<DataSource> {
    const own = data === undefined ? {} : { data };
    return {
      get: (paths, options) =>
        isStream ? this.stream(paths, { ...options, ...own }) : this.get(paths, { ...options, ...own }),
      set: (envelope, options) => this.set(envelope, { ...options, ...own }),
      call: (path, args, refSuffixes, thisPaths, options) =>
        this.call(path, args, refSuffixes, thisPaths, { ...options, ...own }),
    };
  }

  /** Figures of each route and method that was called, since the router was made. */
  stats(): RouteFigures[] {
    const methods: readonly Method[] = ['get', 'set', 'call'];
    return this.#routes.flatMap(({ text, methods: own, stats }) =>
      methods.filter((one) => own.has(one)).map((method) => ({ route: text, method, ...stats[method] })),
    );
  }

  #context({ data }: RequestOptions<Data>): RequestContext<Data> {
    return new RequestContext(data as Data, this.#options.loaders ?? {});
  }

  async #within<T>(
    run: Run<Data>,
    { signal }: SourceOptions,
    work: (run: Run<Data>) => Promise<T>,
  ): Promise<T> {
    if (signal === undefined) {
      try {
        return await work(run);
      } finally {
        run.dispose();
      }
    }
    signal.throwIfAborted();
    const leave = (): void => run.fail(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await work(run);
    } finally {
      signal.removeEventListener('abort', leave);
      run.dispose();
    }
  }
}

function callPathOf(input: PathInput, limits: Limits): Path {
  try {
    const path = toPath(input);
    plainSets([path], limits);
    return path;
  } catch (error) {
    throw error instanceof Error && 'code' in error
      ? error
      : routeError('SLU-GRAPH-INVALID', 'The path of a function must have one key at each step', {
          cause: error,
        });
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
