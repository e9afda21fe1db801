// Screens over HTTP: the first one, and for devices that cannot run the app the one after each key.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReactNode } from 'react';
import type { PlacedScreen } from '../adopt/remote.js';
import { LIMITS, ScreenLimitError } from './limits.js';
import { type RenderScreenOptions, renderScreen } from './render.js';
import { afterKey } from './keys.js';

/** An app as a server runs it: where it is, and how it says that it has gone elsewhere. */
export interface ScreenApp {
  /** Element of the app at a place. `go` takes the place to which a key has led. */
  render(at: string, go: (at: string) => void): ReactNode;
  /** Work in which the render runs: `graph.run` of `createPageGraph`. */
  run?<T>(work: () => T): T;
}

export interface ScreenHandlerOptions extends RenderScreenOptions {
  /** The app for a request, with the rights of its visitor. */
  readonly app: (request: IncomingMessage, response: ServerResponse) => ScreenApp | Promise<ScreenApp>;
  /** Path that is answered; `/screen` by default. */
  readonly path?: string;
  /**
   * `Cache-Control` of a first screen, by the state that went into it, which is undefined for an app without `run`; a result of undefined is private. Without the function every answer is private. Answers to
   * keys, screens that lack parts, and requests with `Authorization` are private in any case.
   */
  readonly cacheControl?: (state: unknown) => string | undefined;
  /** Called with errors of renders and of handlers of keys. Default: they go to stderr. */
  readonly onError?: (error: unknown) => void;
}

export type ScreenHandler = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

const PRIVATE = 'private, no-cache';
/** Characters of a place, and of a key's name. */
const AT_MAX = 1_000;
const KEY_MAX = 32;

/**
 * Answers `GET /screen?at=…` with the screen of an app at a place, and `POST /screen?at=…&focus=…&key=…` with the one after a key, each as
 * `{"at","screen"}`. Returns false for other paths. A key may change data, so pages of other origins may not send one.
 */
export function screenHandler(options: ScreenHandlerOptions): ScreenHandler {
  const { path = '/screen', onError = tell } = options;
  return async (request, response) => {
    // Not by `URL`, which throws for targets such as `//`.
    const { url = '/' } = request;
    const mark = url.indexOf('?');
    if ((mark === -1 ? url : url.slice(0, mark)) !== path) return false;
    try {
      await answer(options, request, response, new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1)));
    } catch (error) {
      onError(error);
      const isLimit = error instanceof ScreenLimitError;
      refuse(response, 500, isLimit ? error.message : 'The screen could not be rendered');
    }
    return true;
  };
}

async function answer(
  options: ScreenHandlerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
): Promise<void> {
  const { method } = request;
  const isKey = method === 'POST';
  if (!isKey && method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD, POST');
    refuse(response, 405, 'Send GET for a screen, or POST for a key');
    return;
  }
  const at = query.get('at') ?? '';
  const key = query.get('key') ?? '';
  const focus = Number(query.get('focus') ?? 0);
  const isRight = at.length <= AT_MAX && key.length <= KEY_MAX && Number.isSafeInteger(focus) && focus >= 0;
  if (!isRight || (key !== '') !== isKey) {
    refuse(
      response,
      400,
      'GET accepts `at`; POST accepts `at`, `focus` (integer ≥ 0) and `key` (1–32 characters)',
    );
    return;
  }
  if (isKey && isCrossSite(request)) {
    refuse(response, 403, 'Pages of other origins may not send keys');
    return;
  }
  const app = await options.app(request, response);
  const run = app.run?.bind(app) ?? (<T>(work: () => T): T => work());
  const placed = await run(() => place(app, options, { at, focus, key }));
  const { state, partial } = placed.screen;
  const isOwn = isKey || partial === true || request.headers.authorization !== undefined;
  const body = Buffer.from(JSON.stringify(placed));
  const { bytesMax = LIMITS.bytesMax } = options;
  if (body.length > bytesMax)
    throw new ScreenLimitError(`The screen has more than ${bytesMax} bytes of JSON`);
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    'cache-control': (isOwn ? undefined : options.cacheControl?.(state)) ?? PRIVATE,
    'x-content-type-options': 'nosniff',
  });
  response.end(method === 'HEAD' ? undefined : body);
}

async function place(
  app: ScreenApp,
  options: ScreenHandlerOptions,
  query: { readonly at: string; readonly focus: number; readonly key: string },
): Promise<PlacedScreen> {
  let { at } = query;
  const element = app.render(at, (next) => {
    at = next;
  });
  const screen =
    query.key === ''
      ? await renderScreen(element, options)
      : await afterKey(element, query, options, options.onError ?? tell);
  return { at, screen };
}

/** Browsers tell by `Sec-Fetch-Site`, older ones by `Origin`. Devices send neither. */
function isCrossSite({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const { origin, host } = headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host;
}

function refuse(response: ServerResponse, status: number, error: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  });
  response.end(JSON.stringify({ error }));
}

function tell(error: unknown): void {
  console.error('Error of a screen:', error);
}
