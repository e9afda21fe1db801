// A server of pages of `@sluice/render` between which the runtime navigates.
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../../../../tests/support/eventually.ts';
import {
  type Assets,
  type PageTree,
  type Pages,
  type PagesOptions,
  type ResponseOptions,
  type TreeNode,
  createPages,
  createRegistry,
  plain,
  respond,
  styleHandler,
} from '../../../render/src/index.ts';
import { preact } from '../../../render/src/adapters/preact.ts';
import { react } from '../../../render/src/adapters/react.ts';
import { vue } from '../../../render/src/adapters/vue.ts';
import { readAssets } from '../../../render/src/boxes/assets.ts';
import { settled, view } from './browser.ts';
import type { Built } from './build.ts';

export interface Route {
  readonly tree: PageTree;
  readonly data?: Record<string, unknown>;
  readonly options?: ResponseOptions;
  /** In place of the platform's. */
  readonly pages?: Pages;
}

export interface Platform {
  readonly url: string;
  readonly routes: Map<string, Route | http.RequestListener>;
  /** Requests that were answered, as `boxes /a` or `document /a`. Files are not among them. */
  readonly asked: string[];
  /** Paths of files that were asked for. */
  readonly files: string[];
  pages(options?: Partial<PagesOptions>, assets?: (assets: Assets) => Assets): Pages;
}

export async function openPlatform(
  t: TestContext,
  built: Built,
  options: Partial<PagesOptions> = {},
): Promise<Platform> {
  const routes: Platform['routes'] = new Map();
  const asked: string[] = [];
  const files: string[] = [];
  const registry = createRegistry({ adapters: [react(), preact(), vue(), plain] });
  built.register(registry);
  const pages: Platform['pages'] = (own, change = (assets) => assets) =>
    createPages({
      registry,
      assets: change(readAssets(built.manifest)),
      vitals: null,
      navigation: true,
      styles: { inlineBytesMax: 0 },
      document: { bodyStart: '<main>', bodyEnd: '</main>', head: '<link rel="icon" href="data:,">' },
      onError: () => undefined,
      ...options,
      ...own,
    });
  const all = pages();
  const styles = styleHandler(all);
  const server = http.createServer((request, response) => {
    void (async () => {
      const { pathname } = new URL(request.url ?? '', 'http://site');
      if (pathname.startsWith('/assets/')) {
        files.push(pathname);
        response.setHeader('cache-control', 'public, max-age=31536000, immutable');
        response.setHeader('content-type', pathname.endsWith('.css') ? 'text/css' : 'text/javascript');
        fs.createReadStream(path.join(built.folder, 'client', pathname)).pipe(response);
        return;
      }
      if (await styles(request, response)) {
        files.push(pathname);
        return;
      }
      if (pathname === '/favicon.ico') {
        response.writeHead(204).end();
        return;
      }
      const form = request.headers['sluice-page'] === undefined ? 'document' : 'boxes';
      asked.push(`${request.method === 'POST' ? 'POST ' : ''}${form} ${request.url ?? ''}`);
      const route = routes.get(pathname);
      if (typeof route === 'function') route(request, response);
      else if (route === undefined) response.writeHead(404, { 'content-type': 'text/html' }).end('none here');
      else await respond(route.pages ?? all, request, response, route.tree, route.data, route.options);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, routes, asked, files, pages };
}

const LINKS = ['/a', '/b', '/c', '/b#end', '/moved', '/file'];
export const menu = (links = LINKS): TreeNode => ({ component: 'Menu', id: 'menu', props: { links } });
export const living = (component: string, id: string): TreeNode => ({ component, props: { id } });
export const tall = (text: string): TreeNode => ({
  component: 'Card',
  id: 'tall',
  props: { title: text, price: 1 },
});

/** Waits until nothing of it throws. */
export const holds = (check: () => unknown): Promise<true> =>
  eventually(async () => {
    await check();
    return true as const;
  });

export interface Opened {
  readonly page: Page;
  readonly said: string[];
  /** Number of documents so far. */
  readonly loads: () => number;
  /** Clicks on a link of the menu. */
  readonly to: (href: string) => Promise<void>;
}

/** Opens `/a` of the platform. */
export async function opened(t: TestContext, platform: Platform): Promise<Opened> {
  const { page, said } = await view(t);
  await page.addInitScript(() => {
    addEventListener('sluice:ready', () => (window.readyAt = performance.now()));
  });
  let loads = 0;
  page.on('domcontentloaded', () => (loads += 1));
  await page.goto(`${platform.url}/a`);
  await settled(page);
  return {
    page,
    said,
    loads: () => loads,
    to: (href) => page.getByText(`to ${href}`, { exact: true }).click(),
  };
}

const FRAMEWORKS = ['Living', 'preact/Living', 'vue/Living', 'plain/Living'];
/** A page with a menu, a component of each framework and a card, all of them named after it. */
export const everywhere = (tree: Partial<PageTree>, of: string): PageTree => ({
  ...tree,
  boxes: [menu(), ...FRAMEWORKS.map((name) => living(name, `${of}: ${name}`)), tall(of)],
});
export const alive = (page: Page): Promise<unknown> =>
  page.evaluate(() => [...(window.living ?? [])].toSorted());
export const livingOf = (of: string): string[] => FRAMEWORKS.map((name) => `${of}: ${name}`).toSorted();

declare global {
  // oxlint-disable-next-line no-var -- of the page
  interface Window {
    living?: Set<string>;
    readyAt?: number;
  }
}
