/** Context that the handlers of one request share: the app's data, a signal, and loaders. It must not know routes. */
import { createLoader, type Loader } from './loader.js';

/** Values in the order of the keys, or by key. */
export type LoadedValues = readonly unknown[] | { get(key: never): unknown };

/** Functions that load values by key, by name. Each gets a list of keys and the request's context. */
export interface LoaderFunctions<Data> {
  readonly [name: string]: (
    keys: readonly never[],
    context: RouteContext<Data>,
  ) => LoadedValues | Promise<LoadedValues>;
}

/** Circumstances of one request. */
export interface RouteContext<Data = unknown> {
  /** Data that the app gave with the request: its user, its database. */
  readonly data: Data;
  /** Aborts when the client leaves, the time limit passes, or a limit ends the request. */
  readonly signal: AbortSignal;
  /** Loads a value by one of the router's `loaders`: one call for all keys of a turn, each key once a request. */
  load<V = unknown>(name: string, key: unknown): Promise<V>;
  /** Loads several values, in the order of the keys. */
  loadMany<V = unknown>(name: string, keys: readonly unknown[]): Promise<V[]>;
}

export class RequestContext<Data> implements RouteContext<Data> {
  readonly data: Data;
  readonly #functions: LoaderFunctions<Data>;
  #loaders: Map<string, Loader<unknown, unknown>> | undefined;
  #controller: AbortController | undefined;
  #reason: { readonly reason: unknown } | undefined;

  constructor(data: Data, functions: LoaderFunctions<Data>) {
    this.data = data;
    this.#functions = functions;
  }

  // Most handlers do not look at it, and a signal costs as much as a small route.
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = { reason };
    this.#controller?.abort(reason);
  }

  load<V>(name: string, key: unknown): Promise<V> {
    return this.#loader(name).load(key) as Promise<V>;
  }

  loadMany<V>(name: string, keys: readonly unknown[]): Promise<V[]> {
    return this.#loader(name).loadMany(keys) as Promise<V[]>;
  }

  #loader(name: string): Loader<unknown, unknown> {
    let loader = this.#loaders?.get(name);
    if (loader === undefined) {
      if (!Object.hasOwn(this.#functions, name)) throw new Error(`The router has no loader ${name}`);
      const batch = this.#functions[name] as (keys: readonly unknown[], context: RouteContext<Data>) => never;
      loader = createLoader((keys: readonly unknown[]) => batch(keys, this));
      (this.#loaders ??= new Map()).set(name, loader);
    }
    return loader;
  }
}
