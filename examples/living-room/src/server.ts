/** Serves the living room: `node dist/server.js`. An ordinary server of node:http. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPageGraph } from '@sluice/graph/server';
import { graphHandler } from '@sluice/graph/wire';
import { type ScreenApp, screenHandler } from '@sluice/screens/server';
import { createElement } from 'react';
import { createCatalogue } from '../../storefront/src/catalogue/catalogue.js';
import { livingRouter } from './graph/router.js';
import { isShared } from './graph/schema.js';
import { type Viewer, viewerOf } from './graph/viewer.js';
import { pageOf } from './page.js';
import { posterOf } from './posters/poster.js';
import { App } from './screens/App.js';
import { SCREEN } from './screens/look.js';

/** Posters that are drawn already. One takes 20 to 60 KB. */
const POSTERS_MAX = 500;
const YEAR = 'public, max-age=31536000, immutable';
const DAY = 'public, max-age=86400';
/** Goods are the same for all, and change with the server alone. */
const FOR_ALL = 'public, max-age=60';

const folder = fileURLToPath(new URL('assets', import.meta.url));
const assets = new Map(
  readdirSync(folder).map((name) => [`/assets/${name}`, readFileSync(join(folder, name))]),
);
const entry = [...assets.keys()].find((path) => path.startsWith('/assets/browser-')) ?? '';

const catalogue = createCatalogue();
const router = livingRouter(catalogue);
const products = new Map(catalogue.products.map((product) => [String(product.id), product]));
const posters = new Map<string, { readonly png: Buffer; readonly tag: string }>();

/** The graph asks for a viewer by the request alone, and a viewer needs the response, too. */
const viewers = new WeakMap<IncomingMessage, Viewer>();

const model = graphHandler(router, {
  data: ({ raw }) => viewers.get(raw as IncomingMessage) ?? { watched: [] },
  cacheControl: (paths) => (paths.every(([root]) => isShared(root)) ? FOR_ALL : undefined),
});

const screens = screenHandler({
  ...SCREEN,
  app: (request, response) => appOf(request, response),
  cacheControl: (state) => (Object.keys(state as object).every(isShared) ? FOR_ALL : undefined),
});

/** The app of a viewer, for one screen. */
function appOf(request: IncomingMessage, response: ServerResponse): ScreenApp {
  const source = router.asDataSource(viewerOf(request, response));
  const graph = createPageGraph({ source });
  const server = serverOf(request);
  return {
    run: (work) => graph.run(work),
    render: (at, go) => createElement(App, { at, onAt: go, server }),
  };
}

/** Address that a device wants before those of pictures: it has no page to which they could be relative. */
function serverOf(request: IncomingMessage): string {
  const asked = new URL(request.url ?? '/', 'http://host').searchParams.get('server') ?? '';
  return /^https?:\/\/[\w.:[\]-]{1,255}$/.test(asked) ? asked : '';
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  viewers.set(request, viewerOf(request, response));
  if ((await model.node(request, response)) || (await screens(request, response))) return;
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://host');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    send(request, response, 405, 'text/plain', 'GET only', 'no-store');
    return;
  }
  const asset = assets.get(pathname);
  if (asset !== undefined) {
    send(request, response, 200, 'text/javascript', asset, YEAR);
    return;
  }
  const [, id, large] = /^\/posters\/(\d{1,6})(-large)?\.png$/.exec(pathname) ?? [];
  const poster = id === undefined ? undefined : drawn(id, large !== undefined);
  if (poster !== undefined) {
    response.setHeader('etag', poster.tag);
    const isKnown = request.headers['if-none-match'] === poster.tag;
    send(request, response, isKnown ? 304 : 200, 'image/png', isKnown ? '' : poster.png, DAY);
    return;
  }
  if (pathname === '/') {
    const page = await pageOf(appOf(request, response), searchParams.get('at') ?? '', entry);
    send(request, response, 200, 'text/html', page, 'private, no-cache');
    return;
  }
  send(request, response, 404, 'text/plain', 'There is nothing here', 'no-store');
}

function drawn(id: string, isLarge: boolean): { readonly png: Buffer; readonly tag: string } | undefined {
  const product = products.get(id);
  if (product === undefined) return undefined;
  const key = `${id} ${isLarge}`;
  const known = posters.get(key);
  if (known !== undefined) return known;
  const png = posterOf(product, isLarge ? 2 : 1);
  const made = { png, tag: `"${createHash('sha256').update(png).digest('base64url').slice(0, 16)}"` };
  const [oldest] = posters.keys();
  if (posters.size >= POSTERS_MAX && oldest !== undefined) posters.delete(oldest);
  posters.set(key, made);
  return made;
}

function send(
  { method }: IncomingMessage,
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Buffer,
  cacheControl: string,
): void {
  const isText = type.startsWith('text/');
  response.writeHead(status, {
    'content-type': isText ? `${type}; charset=utf-8` : type,
    'content-length': Buffer.byteLength(body),
    'cache-control': cacheControl,
    'x-content-type-options': 'nosniff',
  });
  response.end(method === 'HEAD' ? undefined : body);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error(`${request.method} ${request.url} failed:`, error);
    if (response.headersSent) response.destroy();
    else send(request, response, 500, 'text/plain', 'This did not work', 'no-store');
  });
});

server.listen(Number(process.env['PORT'] ?? 3200), () => {
  const address = server.address();
  console.log(`The living room listens on port ${typeof address === 'object' ? address?.port : address}.`);
});

// Answers what it holds, then exits.
process.once('SIGTERM', () => server.close(() => process.exit(0)));
