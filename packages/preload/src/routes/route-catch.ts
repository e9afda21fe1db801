/**
 * Finds the routers of Express, Koa and Hono as the app loads them, and has their methods for registration say what was
 * registered; Fastify says it itself. Of requests, only the begin of a route's handler in Express goes through here. A router
 * keeps its methods' names, lengths, results and errors.
 */
import type { IncomingMessage } from 'node:http';
import { handlerBegins } from '../cpu/handler-clock.js';
import type { Framework, Kind, RouteTables } from './route-tables.js';

export type Method = (this: object, ...given: unknown[]) => unknown;
type Shape = Readonly<Record<string, unknown>>;

/** An app of Express that is mounted in another, by the layer that it is mounted in: the layer holds it in a closure alone. */
export const mountedApps = new WeakMap<object, object>();

/** Facts about a route of Fastify. */
export interface FastifyRoute {
  readonly methods: readonly string[];
  readonly path: string;
  readonly handler: unknown;
}

/** An entry of Hono's routers, as Hono has it in `routes` as well. */
export interface HonoRoute {
  readonly method: string;
  readonly path: string;
  readonly handler: unknown;
}

/** One call of a method that registers. */
interface Call {
  /** Length of the router's stack before. */
  readonly before: number;
  /** True if it did not throw. */
  readonly isDone: boolean;
}

const EXPRESS_ROUTER = /[\\/]router[\\/]index\.js$/;
const EXPRESS_ROUTE = /[\\/]router[\\/](?:lib[\\/])?route\.js$/;
const EXPRESS_APP = /[\\/]express[^\\/]*[\\/]lib[\\/]application\.js$/;
const KOA_ROUTER = /[\\/](?:koa-)?router[\\/](?:lib[\\/]router|dist[\\/]index)\.js$/;
const HONO_ROUTER = /[\\/]hono[\\/]dist[\\/]cjs[\\/]router[\\/][a-z-]+[\\/]router\.js$/;

export class Catcher {
  readonly #tables: RouteTables;
  readonly #wrapped = new WeakSet<object>();

  constructor(tables: RouteTables) {
    this.#tables = tables;
  }

  /** A file of CommonJS was loaded that has a router by its name. */
  module(filename: string, exports: unknown): void {
    try {
      if (EXPRESS_ROUTER.test(filename)) this.express(exports);
      else if (EXPRESS_ROUTE.test(filename)) this.expressRoute(exports);
      else if (EXPRESS_APP.test(filename)) this.expressApp(exports);
      if (KOA_ROUTER.test(filename)) this.koa(exports);
      else if (HONO_ROUTER.test(filename)) this.hono(exports);
    } catch {
      // Something else by the same name, which stays as it is.
    }
  }

  /** Express 4 keeps the methods on the router function that it exports, `router` of Express 5 on its prototype. */
  express(exports: unknown): void {
    if (typeof exports !== 'function') return;
    const holder = [exports.prototype, exports].find(
      (one: unknown) => has(one, 'route') && has(one, 'use') && has(one, 'handle') && has(one, 'param'),
    ) as object | undefined;
    if (holder !== undefined) for (const name of ['use', 'route']) this.#stack('express', holder, name);
  }

  /** A route binds this method when it is made, so it is wrapped before there is any. */
  expressRoute(exports: unknown): void {
    const prototype = typeof exports === 'function' ? (exports.prototype as unknown) : undefined;
    if (!has(prototype, 'dispatch') || !has(prototype, 'all')) return;
    const route = prototype as { dispatch: (request: object, response: object, done: unknown) => unknown };
    const { dispatch } = route;
    if (this.#wrapped.has(dispatch)) return;
    route.dispatch = {
      dispatch(this: object, request: object, response: object, done: unknown): unknown {
        handlerBegins(request as IncomingMessage);
        return Reflect.apply(dispatch, this, [request, response, done]);
      },
    }.dispatch;
    this.#wrapped.add(route.dispatch);
  }

  /** Catches an app of Express. A mounted router is in a closure of the layer, so the two are brought together here. */
  expressApp(exports: unknown): void {
    if (!has(exports, 'lazyrouter') && !has(exports, 'defaultConfiguration')) return;
    this.#wrap(exports as object, 'use', (app, given) => {
      const apps = given.flat(Infinity).filter((one) => has(one, 'handle') && has(one, 'set')) as object[];
      const stack = apps.length === 0 ? undefined : stackOf(expressRouterOf(app));
      const layers = stack?.filter((layer) => (layer as Shape)['name'] === 'mounted_app').slice(-apps.length);
      layers?.forEach((layer, at) => {
        const mounted = apps[at];
        if (mounted !== undefined && !mountedApps.has(layer)) mountedApps.set(layer, mounted);
      });
    });
  }

  koa(exports: unknown): void {
    for (const one of [exports, ...Object.values(Object(exports) as object)]) {
      const prototype = typeof one === 'function' ? (one.prototype as unknown) : undefined;
      if (!has(prototype, 'register') || !has(prototype, 'routes') || !has(prototype, 'match')) continue;
      this.#stack('koa-router', prototype as object, 'register', { handlerOf: lastOfKoa });
      // Besides middleware, it takes the entries of other routers.
      const isCopy = (layer: object): boolean => ((layer as Shape)['methods'] as unknown[]).length > 0;
      this.#stack('koa-router', prototype as object, 'use', { handlerOf: lastOfKoa, isCopy });
    }
  }

  /** All that Hono registers ends in `add(method, path, [handler, route])` of one of its routers. */
  hono(exports: unknown): void {
    for (const one of Object.values(Object(exports) as object)) {
      const prototype = typeof one === 'function' ? (one.prototype as unknown) : undefined;
      if (!has(prototype, 'add') || !has(prototype, 'match')) continue;
      this.#wrap(prototype as object, 'add', (router, given, callee, { isDone }) => {
        const route = Array.isArray(given[2]) ? (given[2][1] as unknown) : undefined;
        // The router that Hono chooses at the first request is given all entries once more.
        if (!isDone || !isHonoRoute(route) || this.#tables.noteOf(route) !== undefined) return;
        this.#add('hono', router, route, callee, {
          path: route.path,
          handlerOf: () => route.handler,
          isCopy: (_entry, { path }) => isBelow(route.path, path),
        });
      });
    }
  }

  /** A hook of Fastify's own, which sees each route of the app and its plugins as it is registered. */
  fastify(message: unknown): void {
    const { fastify } = Object(message) as { readonly fastify?: unknown };
    if (!has(fastify, 'addHook')) return;
    const heard = (route: unknown): void => {
      try {
        const { method, url, handler } = Object(route) as Shape;
        const methods = (Array.isArray(method) ? method : [method]).map(String);
        this.#add('fastify', fastify as object, { methods, path: String(url), handler }, heard);
      } catch {
        // The route is the app's object.
      }
    };
    // What a subscriber throws, Node has end the process.
    attempt(() => (fastify as { addHook: (name: string, hook: unknown) => void }).addHook('onRoute', heard));
  }

  /** A method that pushes to `this.stack`. */
  #stack(framework: Framework, prototype: object, name: string, kind: Kind = {}): void {
    this.#wrap(prototype, name, (router, given, callee, { before }) => {
      const stack = stackOf(router);
      const table = stack === undefined ? undefined : this.#tables.table(framework, router);
      // Functions may come in lists, and paths too.
      const first = [given[0]].flat(Infinity)[0];
      const path = typeof first === 'function' ? '/' : given[0];
      if (table !== undefined && stack !== undefined)
        this.#tables.note(table, stack.slice(before), callee, { path, ...kind });
    });
  }

  /** An entry of a router that shows none. */
  #add(framework: Framework, router: object, entry: object, callee: Method, kind: Kind = {}): void {
    const table = this.#tables.table(framework, router);
    if (table === undefined) return;
    this.#tables.note(table, [entry], callee, kind);
    this.#tables.add(table, router, entry);
  }

  /** `after` is called when the method has returned or thrown. */
  #wrap(
    holder: object,
    name: string,
    after: (self: object, given: readonly unknown[], callee: Method, call: Call) => void,
  ): void {
    const descriptor = Object.getOwnPropertyDescriptor(holder, name);
    const method = descriptor?.value as Method | undefined;
    if (typeof method !== 'function' || this.#wrapped.has(method) || descriptor?.configurable !== true)
      return;
    const wrapped: Method = function (...given) {
      const call = { before: 0, isDone: false };
      attempt(() => (call.before = stackOf(this)?.length ?? 0));
      try {
        const result = Reflect.apply(method, this, given);
        call.isDone = true;
        return result;
      } finally {
        attempt(() => after(this, given, wrapped, call));
      }
    };
    for (const key of Reflect.ownKeys(method)) {
      if (key === 'prototype') continue;
      const own = Object.getOwnPropertyDescriptor(method, key);
      if (own !== undefined) attempt(() => Object.defineProperty(wrapped, key, own));
    }
    this.#wrapped.add(wrapped);
    Object.defineProperty(holder, name, { ...descriptor, value: wrapped });
  }
}

/** Runs `look`. If that fails, the app continues. */
function attempt(look: () => unknown): void {
  try {
    look();
  } catch {
    // The objects are the app's.
  }
}

/** Express 4 throws where `router` is asked for; Express 5 makes one. */
export function expressRouterOf(app: object): object | undefined {
  const { _router } = app as { readonly _router?: object };
  return _router ?? ('lazyrouter' in app ? undefined : (app as { readonly router?: object }).router);
}

export function stackOf(router: unknown): readonly object[] | undefined {
  const { stack } = Object(router) as { readonly stack?: unknown };
  return Array.isArray(stack) ? (stack as object[]) : undefined;
}

function lastOfKoa(layer: object): unknown {
  return stackOf(layer)?.at(-1);
}

/** A path of a router that is mounted, from the path there. */
function isBelow(path: string, below: unknown): boolean {
  return typeof below === 'string' && path.length > below.length && path.endsWith(below === '/' ? '' : below);
}

function has(value: unknown, method: string): boolean {
  return typeof (Object(value) as Shape)[method] === 'function';
}

function isHonoRoute(value: unknown): value is HonoRoute {
  const { method, path } = Object(value) as Shape;
  return typeof method === 'string' && typeof path === 'string';
}
