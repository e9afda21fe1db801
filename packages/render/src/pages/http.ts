/**
 * Pages over HTTP: trees that are posted, pages that an app makes for a request, and the files of their styles. It must not
 * know how pages are rendered.
 */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readJson, signalOf } from '../http/body.js';
import { HttpError } from '../http/errors.js';
import { pathOf, queryOf, sendJson, type Handler } from '../http/handler.js';
import { LateError } from '../tasks/errors.js';
import { toError } from '../thrown.js';
import { PageBody } from './body.js';
import { InvalidTree } from './check.js';
import type { HeaderOptions } from './headers.js';
import type { Page, PageInput, RenderOptions } from './options.js';
import type { Pages } from './pages.js';
import { readPosted } from './posted.js';
import type { PageReport } from './report.js';
import { SourceError } from './sources.js';
import type { PageTree } from './tree.js';

export interface PageHandlerOptions {
  /** Path of posted trees; default `/page`. */
  readonly path?: string;
  /** Path of the list of variants; default `/variants`. */
  readonly variantsPath?: string;
  /** Bytes of a posted tree with its data; default 4 MiB. */
  readonly bytesMax?: number;
  /** Headers of pages, such as `Cache-Control`. */
  readonly headers?: HeaderOptions;
  /** Called with the report of each page. */
  readonly onReport?: (report: PageReport) => void;
}

const PATH = '/page';
const VARIANTS_PATH = '/variants';
const BYTES_MAX = 4 * 1024 * 1024;
const FOREVER = 'public, max-age=31536000, immutable';
/** Styles of today under a URL of yesterday: right for now. */
const SOON = 'public, max-age=60';

/**
 * `POST /page` and `GET /variants`, for callers that may render whatever the registry has: keep it from the public, as the tree
 * says what is rendered and asked for.
 */
export function pageHandler(pages: Pages, options: PageHandlerOptions = {}): Handler {
  const { path = PATH, variantsPath = VARIANTS_PATH, bytesMax = BYTES_MAX, headers, onReport } = options;
  return async (request, response) => {
    const asked = pathOf(request);
    if (asked === variantsPath && isRead(request)) {
      sendJson(response, 200, { variants: pages.variants() });
      return true;
    }
    if (asked !== path) return false;
    if (request.method !== 'POST') {
      response.setHeader('allow', 'POST');
      throw new HttpError(405, `Trees are posted to ${path}`);
    }
    // A form of another site can send anything else without being asked.
    if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(request.headers['content-type'] ?? ''))
      throw new HttpError(415, 'A tree is sent as application/json');
    const signal = signalOf(response);
    const { tree, data, ...posted } = readPosted(await readJson(request, { bytesMax }));
    const page = await rendered(pages, tree, data, {
      ...posted,
      request,
      signal,
      ...(headers && { headers }),
    });
    await send(request, response, page);
    onReport?.(await page.report);
    return true;
  };
}

/** Files of styles, which browsers ask for. */
export function styleHandler(pages: Pages): Handler {
  return async (request, response) => {
    const path = pathOf(request);
    const { styles } = pages;
    if (!path.startsWith(styles.path) || !path.endsWith('.css')) return false;
    if (!isRead(request)) {
      response.setHeader('allow', 'GET, HEAD');
      throw new HttpError(405, 'Styles are read');
    }
    const served = await styles.serve(path.slice(styles.path.length, -'.css'.length));
    if (served === undefined) {
      response.setHeader('cache-control', 'no-store');
      throw new HttpError(404, 'No page has named these styles');
    }
    const bytes = Buffer.from(served.css);
    response.writeHead(200, {
      'content-type': 'text/css; charset=utf-8',
      'content-length': bytes.length,
      'cache-control': served.isExact ? FOREVER : SOON,
      'x-content-type-options': 'nosniff',
    });
    response.end(request.method === 'HEAD' ? undefined : bytes);
    return true;
  };
}

/**
 * Answers a browser's request with a page of the app's own. Resolves with the report when all is sent or the client has left.
 * Rejects, with nothing sent, where the page's data did not come or the tree is none.
 */
export async function respond(
  pages: Pages,
  request: IncomingMessage,
  response: ServerResponse,
  tree: PageTree,
  data: PageInput = {},
  options: Omit<RenderOptions, 'request' | 'signal'> = {},
): Promise<PageReport> {
  const page = await pages.render(tree, data, { ...options, request, signal: signalOf(response) });
  await send(request, response, page);
  return page.report;
}

/**
 * Answers the browser's request for the data of one hole: `?box=ID`, at the address that `RenderOptions.more` named. The status is 404 if
 * the page has no such box for browsers, 504 if its data is late, 502 if it did not come.
 */
export async function respondBox(
  pages: Pages,
  request: IncomingMessage,
  response: ServerResponse,
  tree: PageTree,
  data: PageInput = {},
  options: Omit<RenderOptions, 'request' | 'signal'> = {},
): Promise<void> {
  const id = queryOf(request).get('box') ?? '';
  response.setHeader('cache-control', 'private, no-store');
  try {
    const signal = signalOf(response);
    const answer = await pages.renderBox(tree, id, data, { ...options, request, signal });
    if (answer === undefined) sendJson(response, 404, { error: 'The page has no data for this box' });
    else sendJson(response, 200, answer);
  } catch (thrown) {
    const error = toError(thrown);
    // The address is public: which source it was, and why, is not told.
    if (isLate(error)) sendJson(response, 504, { error: 'The data of this box is late' });
    else if (error instanceof SourceError)
      sendJson(response, 502, { error: 'The data of this box did not come' });
    else throw error;
  }
}

/** A client who leaves ends the page, which is no error. */
async function send(request: IncomingMessage, response: ServerResponse, page: Page): Promise<void> {
  const { status, headers, body } = page;
  for (const [name, value] of Object.entries(headers)) {
    response.setHeader(name, typeof value === 'string' ? value : [...value]);
  }
  response.statusCode = status;
  if (request.method === 'HEAD') {
    if (typeof body !== 'string') body.destroy();
    response.end();
    return;
  }
  const whole = body instanceof PageBody ? await body.whole() : body;
  if (typeof whole === 'string' || whole instanceof Uint8Array) {
    response.end(whole);
    return;
  }
  try {
    await pipeline(body as Readable, response);
  } catch (error) {
    if (!response.destroyed) throw error;
  }
}

async function rendered(
  pages: Pages,
  tree: PageTree,
  data: PageInput,
  options: RenderOptions,
): Promise<Page> {
  try {
    return await pages.render(tree, data, options);
  } catch (thrown) {
    const error = toError(thrown);
    if (error instanceof InvalidTree) throw new HttpError(400, error.message, { cause: error });
    if (error instanceof SourceError || error instanceof LateError)
      throw new HttpError(isLate(error) ? 504 : 502, error.message, { cause: error });
    throw error;
  }
}

function isLate(error: Error): boolean {
  return error instanceof LateError || (error instanceof SourceError && error.isLate);
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}
