/** Reads the tables of routers as they are now, each in its own form, into steps that a request takes. Loaded when somebody asks. */
import { expressRouterOf, type FastifyRoute, type HonoRoute, mountedApps, stackOf } from './route-catch.js';
import type { Framework, Note, RouteTables, Table } from './route-tables.js';
import type { Handler, Step } from './route-walk.js';

export interface Entry extends Step {
  readonly note: Note | undefined;
  readonly below?: readonly Entry[];
}

export interface Listed {
  readonly framework: Framework;
  /** Entries are tried in order until one fits; `all` tries each for every request; `tree` does not depend on their number. */
  readonly lookUp: 'linear' | 'all' | 'tree';
  readonly steps: readonly Entry[];
}

/** Maximum number of entries, including repetitions of routers that are mounted several times. */
const ENTRIES_MAX = 50_000;
/** Maximum number of paths of an entry, including those of its mounts. */
const TEMPLATES_MAX = 8;

/** Place at which a router of Express is mounted. */
interface Mounted {
  readonly path: string;
  readonly templates: readonly string[];
  /** Router and those that it is in, as one may be mounted in itself. */
  readonly routers: readonly object[];
}

type Shape = Readonly<Record<string, unknown>>;

/** Tables that are part of no other, and how many entries there was no room for. */
export function listTables(tables: RouteTables): { listed: Listed[]; left_off: number } {
  const reader = new Reader(tables);
  const known = tables.tables().flatMap((table) => {
    const router = table.router.deref();
    return router === undefined ? [] : [{ table, router }];
  });
  const mounted = new Set(known.flatMap(({ router }) => reader.mountedIn(router)));
  const whole = known.filter(({ router }) => !mounted.has(router));
  const all = whole.map(({ table, router }) => reader.read(table, router));
  const copied = copies(all);
  const listed = all.filter((one) => one.steps.length > 0 && !copied.has(one));
  return { listed, left_off: reader.left_off };
}

/** Routers of Koa and Hono are copied into those that they are mounted in. Of two that hold the same, the later one is whole. */
function copies(all: readonly Listed[]): Set<Listed> {
  const holders = new Map<Handler, Set<number>>();
  const tables = all.map(({ framework, steps }) =>
    framework === 'koa-router' || framework === 'hono' ? steps : [],
  );
  for (const [at, steps] of tables.entries()) {
    for (const handler of steps.flatMap(({ handlers }) => handlers)) {
      const known = holders.get(handler);
      if (known === undefined) holders.set(handler, new Set([at]));
      else known.add(at);
    }
  }
  const isIn = (step: Entry, table: number): boolean =>
    step.handlers.some((handler) => holders.get(handler)?.has(table));
  return new Set(
    all.filter((_listed, at) => {
      const [first, ...rest] = tables[at] ?? [];
      if (first === undefined) return false;
      const wholes = new Set(first.handlers.flatMap((handler) => [...(holders.get(handler) ?? [])]));
      return [...wholes].some((other) => {
        const longer = (tables[other]?.length ?? 0) - rest.length - 1;
        return (longer > 0 || (longer === 0 && other > at)) && rest.every((step) => isIn(step, other));
      });
    }),
  );
}

class Reader {
  left_off = 0;
  readonly #tables: RouteTables;
  #room = ENTRIES_MAX;

  constructor(tables: RouteTables) {
    this.#tables = tables;
  }

  /** Routers of Express that are mounted in this one. */
  mountedIn(router: object): object[] {
    const below = (stackOf(router) ?? []).map((layer) => this.#below(layer, (layer as Shape)['handle']));
    return below.filter((one) => one !== undefined && one !== router) as object[];
  }

  read({ framework }: Table, router: object): Listed {
    if (framework === 'express') {
      const root = { path: '', templates: [''], routers: [router] };
      return { framework, lookUp: 'linear', steps: this.#express(router, root) };
    }
    if (framework === 'koa-router') return { framework, lookUp: 'all', steps: this.#koa(router) };
    const entries = this.#tables.entriesOf(router);
    if (framework === 'fastify') {
      return {
        framework,
        lookUp: 'tree',
        steps: entries.map((entry) => this.#fastify(entry as FastifyRoute)),
      };
    }
    const name = String((router as Shape)['name']);
    const lookUp = /Linear|Pattern/.test(name) ? 'linear' : 'tree';
    return { framework, lookUp, steps: entries.map((entry) => this.#hono(entry as HonoRoute)) };
  }

  #express(router: object, at: Mounted): Entry[] {
    return (stackOf(router) ?? []).slice(0, this.#take(router)).map((layer) => {
      const { handle, route, rawPath, regexp } = layer as Shape;
      const note = this.#tables.noteOf(layer);
      const isRoute = typeof route === 'object' && route !== null;
      const given = isRoute ? (route as Shape)['path'] : (rawPath ?? note?.path);
      const paths = pathsOf(given, !isRoute);
      const all = at.templates.flatMap((prefix) => paths.map((path) => joined(prefix, path)));
      const templates = all.slice(0, TEMPLATES_MAX);
      const path =
        templates.length > 0 ? templates.join(', ') : `${at.path} ${textOf(given ?? regexp)}`.trim();
      const step = { path, templates, note, next: 2 };
      if (isRoute) return { ...step, kind: 'route', match: wholeOf(layer), ...expressMethods(route) };
      const handlers = isHandler(handle) ? [handle] : [];
      const middleware = { ...step, methods: [], handlers, match: prefixOf(layer) };
      const below = this.#below(layer, handle);
      if (below === undefined || at.routers.includes(below))
        return { ...middleware, kind: handlers[0]?.length === 4 ? 'error' : 'middleware' };
      const inside = { path, templates, routers: [...at.routers, below] };
      return { ...middleware, kind: 'mount', below: this.#express(below, inside) };
    });
  }

  /** Returns the number of a router's entries that there is room for; a router may be mounted in many places. */
  #take(router: object): number {
    const length = stackOf(router)?.length ?? 0;
    const taken = Math.min(length, this.#room);
    this.#room -= taken;
    this.left_off += length - taken;
    return taken;
  }

  #below(layer: object, handle: unknown): object | undefined {
    // Middleware of `connect` has a stack as well, and a path for a route.
    if (stackOf(handle) !== undefined && isHandler((handle as Shape)['route'])) return handle as object;
    const app = mountedApps.get(layer);
    return app === undefined ? undefined : expressRouterOf(app);
  }

  #koa(router: object): Entry[] {
    return (stackOf(router) ?? []).map((layer) => {
      const { methods, path, regexp, stack, opts } = layer as Shape;
      const handlers = (Array.isArray(stack) ? stack : []).filter(isHandler);
      const names = (Array.isArray(methods) ? methods : []).map(String);
      const isGet = names.includes('GET');
      return {
        kind: names.length === 0 ? 'middleware' : 'route',
        methods: isGet ? names.filter((name) => name !== 'HEAD') : names,
        // Middleware without a path has an expression of the router's own.
        path: (Object(opts) as Shape)['pathAsRegExp'] === true ? '*' : textOf(path),
        templates: pathsOf(path, false),
        handlers,
        next: 1,
        match: (given) => (isRegExp(regexp) && fits(regexp, given) ? '' : undefined),
        note: this.#tables.noteOf(layer),
      };
    });
  }

  #hono(route: HonoRoute): Entry {
    const { method, path, handler } = route;
    const regexp = honoRegExp(path);
    const handlers = isHandler(handler) ? [handler] : [];
    const isAll = method === 'ALL';
    return {
      kind: isAll && (handlers[0]?.length ?? 0) > 1 ? 'middleware' : 'route',
      methods: isAll ? [] : [method],
      path,
      templates: regexp === undefined ? [] : [path],
      handlers,
      next: 1,
      match: (given) => (regexp !== undefined && regexp.test(given) ? '' : undefined),
      note: this.#tables.noteOf(route),
    };
  }

  #fastify(route: FastifyRoute): Entry {
    return {
      kind: 'route',
      methods: route.methods,
      path: route.path,
      templates: [],
      handlers: isHandler(route.handler) ? [route.handler] : [],
      next: 2,
      match: () => undefined,
      note: this.#tables.noteOf(route),
    };
  }
}

function expressMethods(route: unknown): Pick<Step, 'methods' | 'handlers'> {
  const { methods, stack } = Object(route) as Shape;
  const names = Object.keys(Object(methods) as object);
  const layers = (Array.isArray(stack) ? stack : []) as Shape[];
  return {
    methods: names.includes('_all') ? [] : names.map((name) => name.toUpperCase()),
    handlers: layers.map((layer) => layer['handle']).filter(isHandler),
  };
}

/** Express 4 has a regular expression, Express 5 functions. */
function matched(layer: object, path: string): string | undefined {
  const { regexp, matchers } = layer as Shape;
  if (isRegExp(regexp)) {
    const { fast_star, fast_slash } = regexp as RegExp & { fast_star?: unknown; fast_slash?: unknown };
    if (fast_star === true) return path;
    if (fast_slash === true) return '';
    return fits(regexp, path)?.[0];
  }
  if ((layer as Shape)['slash'] === true) return '';
  for (const matcher of Array.isArray(matchers) ? (matchers as unknown[]) : []) {
    const found = typeof matcher === 'function' ? (matcher(path) as unknown) : undefined;
    const { path: prefix } = Object(found) as Shape;
    if (typeof prefix === 'string') return prefix;
  }
  return undefined;
}

/** The part of a path that fits. What an app's own matcher throws, is no match to Express either. */
function prefix(layer: object, path: string): string | undefined {
  try {
    return matched(layer, path);
  } catch {
    return undefined;
  }
}

function wholeOf(layer: object): Step['match'] {
  return (path) => (prefix(layer, path) === undefined ? undefined : '');
}

function prefixOf(layer: object): Step['match'] {
  const isOld = isRegExp((layer as Shape)['regexp']);
  return (path) => {
    const begin = prefix(layer, path);
    if (begin === undefined || !path.startsWith(begin)) return undefined;
    const after = path[begin.length];
    const isEnd = begin === '' || after === undefined || after === '/' || (isOld && after === '.');
    if (!isEnd) return undefined;
    const rest = path.slice(begin.length);
    return rest.startsWith('/') ? rest : `/${rest}`;
  };
}

/** Matches a path without what a flag would have the expression remember between two looks. */
function fits(regexp: RegExp, path: string): RegExpExecArray | null {
  const { lastIndex } = regexp;
  regexp.lastIndex = 0;
  const found = regexp.exec(path);
  regexp.lastIndex = lastIndex;
  return found;
}

/** Hono says it in words; this is how its routers read them. Undefined where the bound of a parameter is no expression. */
export function honoRegExp(path: string): RegExp | undefined {
  if (path === '*' || path === '/*') return /^/;
  const segments = path.match(/\/(?:[^/{]|\{(?:[^{}]|\{[^{}]*\})*\})*/g) ?? [path];
  const source = segments.map((segment, at) => {
    const text = segment.slice(1);
    if (text === '*') return at === segments.length - 1 ? '(?:/.*)?' : '/[^/]+';
    const parameter = /^:[^{}?]+(?:\{(.+)\})?(\?)?$/.exec(text);
    if (parameter === null) return `/${text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')}`;
    const one = `/(?:${parameter[1] ?? '[^/]+'})`;
    return parameter[2] === undefined ? one : `(?:${one})?`;
  });
  try {
    return new RegExp(`^${source.join('')}$`);
  } catch {
    return undefined;
  }
}

function pathsOf(given: unknown, isMount: boolean): string[] {
  const paths = Array.isArray(given) ? given.flat(Infinity) : [given];
  if (!paths.every((path) => typeof path === 'string')) return [];
  return isMount ? paths.map((path) => path.replace(/\/+$/, '')) : paths;
}

function joined(prefix: string, path: string): string {
  if (prefix === '') return path === '' ? '/' : path;
  return path === '' || path === '/' ? prefix : prefix === '/' ? path : `${prefix}${path}`;
}

function textOf(path: unknown): string {
  if (Array.isArray(path)) return path.map(textOf).join(', ');
  return typeof path === 'string' || path instanceof RegExp ? String(path) : '(unknown)';
}

function isRegExp(value: unknown): value is RegExp {
  return Object.prototype.toString.call(value) === '[object RegExp]';
}

function isHandler(value: unknown): value is Handler {
  return typeof value === 'function';
}
