/**
 * Template of the app's router by which a request was answered, if it can be read from outside. Express leaves it on the
 * request, Next among its notes there, and Fastify says it on a diagnostics channel. Koa's and Hono's routers leave nothing
 * behind, and nothing is patched for them; the gateway learns from their paths. It must not know what the gateway does with
 * it.
 */
import diagnostics from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { handlerBegins } from '../cpu/handler-clock.js';

/** Maximum number of templates remembered as reported. Further ones are not told. */
const TOLD_MAX = 500;
/** Maximum length of a reported template, characters. */
const TEMPLATE_CHARS_MAX = 256;
/**
 * Maximum number of reported positions of one router. Express leaves what the client sent in place of the
 * template of a mount, so that a router below `/:tenant` has as many places as clients make up.
 */
const MOUNTS_MAX = 8;

const fastifyStarts = 'tracing:fastify.request.handler:start';
const nextNotes = Symbol.for('NextInternalRequestMeta');
const templateKey = Symbol('sluice.template');

interface Routed extends IncomingMessage {
  [templateKey]?: unknown;
  [nextNotes]?: unknown;
  readonly baseUrl?: unknown;
  readonly route?: unknown;
}

interface Found {
  readonly template: string;
  /** Express' own object for the route, where the template is from there. */
  readonly route: object | undefined;
}

export class Routes {
  readonly #told = new Set<string>();
  /** Number of a route's templates that were told, in Express. */
  readonly #mounts = new WeakMap<object, number>();

  constructor() {
    diagnostics.subscribe(fastifyStarts, noteFastify);
  }

  /** The request's template, unless the gateway was told of it before. */
  news(request: IncomingMessage): string | undefined {
    const found = find(request);
    if (found === undefined || this.#told.has(found.template)) return undefined;
    const { template, route } = found;
    if (this.#told.size >= TOLD_MAX || template.length > TEMPLATE_CHARS_MAX) return undefined;
    if (route !== undefined) {
      const mounts = this.#mounts.get(route) ?? 0;
      if (mounts >= MOUNTS_MAX) return undefined;
      this.#mounts.set(route, mounts + 1);
    }
    this.#told.add(template);
    return template;
  }
}

function find(request: Routed): Found | undefined {
  try {
    const noted = request[templateKey] ?? ofNext(request[nextNotes]);
    const template = noted ?? ofExpress(request);
    if (typeof template !== 'string' || !template.startsWith('/')) return undefined;
    const { route } = request;
    return { template, route: noted !== template && isObject(route) ? route : undefined };
  } catch {
    // These are the app's objects, and a property may be anything.
    return undefined;
  }
}

/** The path of the route as it was registered, below where its router is mounted. */
function ofExpress({ route, baseUrl }: Routed): string | undefined {
  const path = property(route, 'path');
  if (typeof path !== 'string' || (baseUrl !== undefined && typeof baseUrl !== 'string')) return undefined;
  const template = `${baseUrl ?? ''}${path}`;
  return template.length > 1 && template.endsWith('/') ? template.slice(0, -1) : template;
}

function ofNext(notes: unknown): unknown {
  return property(property(property(notes, 'match'), 'definition'), 'pathname');
}

function noteFastify(message: unknown): void {
  const request = property(message, 'request');
  const url =
    property(property(message, 'route'), 'url') ?? property(property(request, 'routeOptions'), 'url');
  const raw = property(request, 'raw');
  if (!isObject(raw)) return;
  (raw as Routed)[templateKey] = url;
  handlerBegins(raw as Routed);
}

function property(value: unknown, name: string): unknown {
  return isObject(value) ? (value as Record<string, unknown>)[name] : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
