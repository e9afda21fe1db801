/**
 * One program for an app of pages, in development and in production. Under `NODE_ENV=development`, which `sluice dev` sets, Vite serves the
 * components and their changes; otherwise what `vite build` has written. It must not know components.
 */
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import {
  createServer,
  leaveSignal,
  middleware,
  respond,
  respondBox,
  styleHandler,
  type Handler,
  type PageInput,
  type PageReport,
  type Pages,
  type PagesOptions,
  type PageTree,
  type Registry,
  type ResponseOptions,
} from '@sluice/render';
import sirv from 'sirv';
import type { InlineConfig } from 'vite';
import type { Assets } from '../vite/assets.js';
import { closed } from './close.js';
import { pagesOf, type Components } from './pages.js';

export interface AppContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly pages: Pages;
  /** Aborts when the client leaves before its answer was sent. */
  readonly signal: AbortSignal;
  /** Answers with a page. Resolves with its report when all is sent. */
  respond(tree: PageTree, data?: PageInput, options?: ResponseOptions): Promise<PageReport>;
  /** Answers the browser's request for the data of a hole, at the address that the page's option `more` named. */
  respondBox(tree: PageTree, data?: PageInput, options?: ResponseOptions): Promise<void>;
}

/** Answers a request. Those that it leaves alone get a 404 response. */
export type App = (context: AppContext) => unknown;

export interface ServeOptions {
  /** Default: `PORT`, else 3000. */
  readonly port?: number;
  /** Default: `localhost` in development, all addresses otherwise. */
  readonly host?: string;
  /** The project's folder; default: where the program was started. */
  readonly root?: string;
  /** Adds components that are in no file below `components`, such as those of other services. */
  readonly register?: (registry: Registry) => unknown;
  /** Further options of the pages: sources, experiments, head of documents. */
  readonly pages?: Omit<PagesOptions, 'registry' | 'assets'>;
  /** Paths of what the build has written, from `root`, where Vite's config or the plugin's options say others. */
  readonly built?: { readonly client?: string; readonly server?: string; readonly manifest?: string };
  /** Config of Vite for development, beside the project's own. */
  readonly vite?: InlineConfig;
  /** Called with what the app threw in production, which the client does not see. Default: a line on standard error. */
  readonly onError?: (error: unknown, request: IncomingMessage) => void;
}

export interface ServedApp {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the app until it is closed. Rejects where the build is missing, or the port is taken. */
export async function serve(app: App, options: ServeOptions = {}): Promise<ServedApp> {
  return process.env['NODE_ENV'] === 'development' ? serveSources(app, options) : serveBuild(app, options);
}

function portOf({ port = Number(process.env['PORT'] ?? 3000) }: ServeOptions): number {
  return port;
}

async function serveSources(app: App, options: ServeOptions): Promise<ServedApp> {
  const { root = process.cwd() } = options;
  const { startDevServer } = await import('../dev/start.js');
  return startDevServer({
    port: portOf(options),
    ...(options.host !== undefined && { host: options.host }),
    vite: { root, ...options.vite },
    app: (dev) => {
      let known: { readonly components: Components; readonly handle: Promise<Answering> } | undefined;
      return async () => {
        const components = await dev.components();
        if (known?.components !== components) known = { components, handle: answering(components) };
        const [handle, styles] = await Promise.all([known.handle, dev.styles()]);
        return (request, response) => handle(request, response, styles);
      };

      async function answering(components: Components): Promise<Answering> {
        const { document, ...rest } = options.pages ?? {};
        const pages = await pagesOf(
          root,
          components,
          { vitals: null, ...rest, assets: dev.assets },
          options.register,
        );
        const ofStyles = middleware(styleHandler(pages));
        return (request, response, styles) =>
          new Promise((resolve, reject) => {
            ofStyles(request, response, (error) => {
              if (error !== undefined) return reject(error);
              const head = { document: { ...document, head: `${document?.head ?? ''}${styles}` } };
              return resolve(answer(app, pages, request, response, head));
            });
          });
      }
    },
  });
}

type Answering = (request: IncomingMessage, response: ServerResponse, styles: string) => Promise<void>;

async function serveBuild(app: App, options: ServeOptions): Promise<ServedApp> {
  const { root = process.cwd(), built = {}, host } = options;
  const {
    client = 'dist/client',
    server = 'dist/server/components.js',
    manifest = 'dist/sluice-assets.json',
  } = built;
  const file = (of: string): string => path.resolve(root, of);
  if (!existsSync(file(manifest)) || !existsSync(file(server)))
    throw new Error(
      `There is no build in ${root}: run \`npx vite build\` first, or \`sluice dev\` while you develop. (${manifest} and ${server} are expected.)`,
    );
  const components = (await import(file(server))) as Components;
  const pages = await pagesOf(
    root,
    components,
    { ...options.pages, assets: file(manifest) },
    options.register,
  );
  const immutable = immutableIn(file(manifest));
  const files = sirv(file(client), {
    etag: true,
    setHeaders(response, pathname) {
      if (immutable.has(pathname)) response.setHeader('cache-control', 'public, max-age=31536000, immutable');
    },
  });
  const fromFiles: Handler = (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return Promise.resolve(false);
    return new Promise((resolve) => {
      response.once('close', () => resolve(true));
      files(request, response, () => resolve(false));
    });
  };
  const fromApp: Handler = async (request, response) => {
    await answer(app, pages, request, response);
    return true;
  };
  const { onError } = options;
  const http = createServer([fromFiles, styleHandler(pages), fromApp], { ...(onError && { onError }) });
  http.listen(portOf(options), host);
  await once(http, 'listening');
  return {
    url: `http://${host ?? 'localhost'}:${(http.address() as AddressInfo).port}`,
    close: () => closed(http),
  };
}

/** Paths of files whose contents never change under their names. */
function immutableIn(manifest: string): ReadonlySet<string> {
  const { immutable = [] } = JSON.parse(readFileSync(manifest, 'utf8')) as Partial<Assets>;
  return new Set(immutable.map((name) => `/${name}`));
}

async function answer(
  app: App,
  pages: Pages,
  request: IncomingMessage,
  response: ServerResponse,
  more: ResponseOptions = {},
): Promise<void> {
  const url = urlOf(request);
  if (url === undefined) return refuse(response, 400, 'The URL of the request is not valid');
  let signal: AbortSignal | undefined;
  await app({
    request,
    response,
    url,
    pages,
    get signal() {
      // One costs as much as a small component, and most apps need none.
      return (signal ??= leaveSignal(response));
    },
    respond: (tree, data, options) =>
      respond(pages, request, response, tree, data, options === undefined ? more : together(more, options)),
    respondBox: (tree, data, options) => respondBox(pages, request, response, tree, data, options),
  });
  if (!response.headersSent && !response.writableEnded) refuse(response, 404, 'Not found');
}

/** Options of a response beside those of the mode: neither takes the head of the other away. */
function together(mode: ResponseOptions, own: ResponseOptions): ResponseOptions {
  if (mode.document === undefined) return own;
  const head = `${own.document?.head ?? ''}${mode.document.head ?? ''}`;
  return { ...mode, ...own, document: { ...mode.document, ...own.document, head } };
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
  response.end(`${text}\n`);
}

/** Undefined for an address that is none, as clients send them. */
function urlOf({ url = '/', headers }: IncomingMessage): URL | undefined {
  const base = `http://${headers.host ?? 'localhost'}`;
  // A URL has a host after two slashes, of either kind.
  const isPath = /^\/(?![/\\])/.test(url);
  return isPath && URL.canParse(url, base) ? new URL(url, base) : undefined;
}
