/**
 * Which template of the app's router a request was answered by, as far as that can be read off from outside: Express
 * leaves it on the request, Next among its notes there, and Fastify says it on a diagnostics channel. Koa's and Hono's
 * routers leave nothing behind, and nothing is patched for them; the gateway learns from their paths. It must not know what
 * the gateway does with it.
 */
import diagnostics from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';

/** Templates that are remembered as told; further ones are not told. */
const TOLD_MAX = 500;
const TEMPLATE_CHARS_MAX = 256;

const fastifyStarts = 'tracing:fastify.request.handler:start';
const nextNotes = Symbol.for('NextInternalRequestMeta');
const templateKey = Symbol('sluice.template');

interface Routed extends IncomingMessage {
  [templateKey]?: unknown;
  [nextNotes]?: unknown;
  readonly baseUrl?: unknown;
  readonly route?: unknown;
}

export class Routes {
  readonly #told = new Set<string>();

  constructor() {
    diagnostics.subscribe(fastifyStarts, noteFastify);
  }

  /** The request's template, unless the gateway was told of it before. */
  news(request: IncomingMessage): string | undefined {
    const template = templateOf(request);
    if (template === undefined || this.#told.has(template)) return undefined;
    if (this.#told.size >= TOLD_MAX || template.length > TEMPLATE_CHARS_MAX) return undefined;
    this.#told.add(template);
    return template;
  }
}

function templateOf(request: Routed): string | undefined {
  try {
    const template = request[templateKey] ?? ofNext(request[nextNotes]) ?? ofExpress(request);
    return typeof template === 'string' && template.startsWith('/') ? template : undefined;
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
  if (isObject(raw)) (raw as Routed)[templateKey] = url;
}

function property(value: unknown, name: string): unknown {
  return isObject(value) ? (value as Record<string, unknown>)[name] : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
