/**
 * Pages over HTTP: trees that are posted, pages that an app makes for a request, and the files of their styles. It must not
 * know how pages are rendered.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Abort } from '../abort.js';
import { jsonAnswer, pathOf, queryOf, type Answer } from '../http/answer.js';
import { readJson } from '../http/body.js';
import { httpError, type ErrorCode } from '../http/errors.js';
import { leaving as leavingOfFetch, requestOf, responseOf, type FetchOptions } from '../http/fetch.js';
import { served, type Served } from '../http/handler.js';
import { leaving, write } from '../http/node.js';
import { LateError } from '../tasks/errors.js';
import { toError } from '../thrown.js';
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
export function pageHandler(pages: Pages, options: PageHandlerOptions = {}): Served {
  const { path = PATH, variantsPath = VARIANTS_PATH, bytesMax = BYTES_MAX, headers, onReport } = options;
  return served(async (request, { leave }) => {
    const asked = pathOf(request);
    if (asked === variantsPath && isRead(request)) return jsonAnswer(200, { variants: pages.variants() });
    if (asked !== path) return undefined;
    if (request.method !== 'POST') {
      throw httpError('SLU-RENDER-METHOD', `Send trees with POST to ${path}`, { headers: { allow: 'POST' } });
    }
    // A form of another site can send anything else without being asked.
    if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(request.headers['content-type'] ?? ''))
      throw httpError('SLU-RENDER-BODY-TYPE', 'A tree must be sent as application/json');
    const signal = leave();
    const { tree, data, ...posted } = readPosted(await readJson(request, { bytesMax }));
    const page = await rendered(pages, tree, data, {
      ...posted,
      request,
      signal,
      ...(headers && { headers }),
    });
    return { ...answerOf(page), sent: async () => onReport?.(await page.report) };
  });
}

/** Files of styles, which browsers ask for. */
export function styleHandler(pages: Pages): Served {
  return served(async (request) => {
    const path = pathOf(request);
    const { styles } = pages;
    if (!path.startsWith(styles.path) || !path.endsWith('.css')) return undefined;
    if (!isRead(request))
      throw httpError('SLU-RENDER-METHOD', 'Styles are read', { headers: { allow: 'GET, HEAD' } });
    const file = await styles.serve(path.slice(styles.path.length, -'.css'.length));
    if (file === undefined) {
      throw httpError('SLU-RENDER-STYLES-UNKNOWN', 'No page refers to these styles');
    }
    const bytes = Buffer.from(file.css);
    return {
      status: 200,
      headers: {
        'content-type': 'text/css; charset=utf-8',
        'content-length': String(bytes.length),
        'cache-control': file.isExact ? FOREVER : SOON,
        'x-content-type-options': 'nosniff',
      },
      body: bytes,
    };
  });
}

/** Options of a page that answers a request. */
export type ResponseOptions = Omit<RenderOptions, 'request' | 'signal'>;

/**
 * Answers a browser's request with a page of the app's own, or with its boxes where the runtime navigates. Resolves with the report when all is sent or the client has left.
 * Rejects, with nothing sent, where the page's data did not come or the tree is none.
 */
export async function respond(
  pages: Pages,
  request: IncomingMessage,
  response: ServerResponse,
  tree: PageTree,
  data: PageInput = {},
  options: ResponseOptions = {},
): Promise<PageReport> {
  const format = pages.formatOf(request);
  const page = await pages.render(tree, data, { format, ...options, request, signal: leaving(response) });
  await write(request, response, answerOf(page));
  return page.report;
}

/**
 * Makes the response to a browser's request of Fetch. Its body is the page, as it is rendered. Rejects where the page's data did not come or
 * the tree is none. `address` is as for `toFetch`.
 */
export async function pageResponse(
  pages: Pages,
  request: Request,
  tree: PageTree,
  data: PageInput = {},
  { address, ...options }: ResponseOptions & Pick<FetchOptions, 'address'> = {},
): Promise<Response> {
  const incoming = requestOf(request, address);
  const page = await pages.render(tree, data, {
    format: pages.formatOf(incoming),
    ...options,
    request: incoming,
    signal: leavingOfFetch(request),
  });
  return responseOf(request.method, answerOf(page));
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
  options: ResponseOptions = {},
): Promise<void> {
  await write(request, response, await boxAnswer(pages, request, leaving(response), tree, data, options));
}

/** Makes the response to a browser's request of Fetch for the data of one hole, as `respondBox` does for `node:http`. */
export async function boxResponse(
  pages: Pages,
  request: Request,
  tree: PageTree,
  data: PageInput = {},
  { address, ...options }: ResponseOptions & Pick<FetchOptions, 'address'> = {},
): Promise<Response> {
  const incoming = requestOf(request, address);
  const answer = await boxAnswer(pages, incoming, leavingOfFetch(request), tree, data, options);
  return responseOf(request.method, answer);
}

async function boxAnswer(
  pages: Pages,
  request: IncomingMessage,
  signal: Abort,
  tree: PageTree,
  data: PageInput,
  options: ResponseOptions,
): Promise<Answer> {
  const id = queryOf(request).get('box') ?? '';
  const answer = (status: number, body: unknown): Answer =>
    jsonAnswer(status, body, { 'cache-control': 'private, no-store' });
  const failed = (status: number, error: string, code: ErrorCode): Answer => answer(status, { error, code });
  try {
    const found = await pages.renderBox(tree, id, data, { ...options, request, signal });
    if (found !== undefined) return answer(200, found);
    return failed(404, 'The page has no data for this box', 'SLU-RENDER-BOX-UNKNOWN');
  } catch (thrown) {
    const error = toError(thrown);
    // The address is public: which source it was, and why, is not told.
    if (isLate(error)) return failed(504, 'The data of this box is late', 'SLU-RENDER-SOURCE-LATE');
    if (error instanceof SourceError)
      return failed(502, 'The data of this box could not be loaded', 'SLU-RENDER-SOURCE-FAILED');
    throw error;
  }
}

function answerOf({ status, headers, body }: Page): Answer {
  return { status, headers, body };
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
    if (error instanceof InvalidTree)
      throw httpError('SLU-RENDER-TREE-INVALID', error.message, { cause: error });
    if (error instanceof SourceError || error instanceof LateError)
      throw httpError(isLate(error) ? 'SLU-RENDER-SOURCE-LATE' : 'SLU-RENDER-SOURCE-FAILED', error.message, {
        cause: error,
      });
    throw error;
  }
}

function isLate(error: Error): boolean {
  return error instanceof LateError || (error instanceof SourceError && error.isLate);
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}
