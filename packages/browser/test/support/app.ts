// Apps that are built into a folder, and pages of their components.
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type TestContext, after } from 'node:test';
import type { Page } from 'playwright-core';
import {
  type PageTree,
  createPages,
  createRegistry,
  plain,
  respond,
  styleHandler,
} from '../../../render/src/index.ts';
import { react } from '../../../render/src/adapters/react.ts';
import { vue } from '../../../render/src/adapters/vue.ts';
import type { SluiceOptions } from '../../src/vite/index.ts';
import { type Built, build } from './build.ts';
import { appOf } from './shop.ts';

const folders: string[] = [];
after(() => {
  for (const folder of folders) fs.rmSync(folder, { recursive: true });
});

/** Writes an app, which is removed after all tests. */
export function app(files: Readonly<Record<string, string>>): string {
  const folder = appOf(files);
  folders.push(folder);
  return folder;
}

/** Builds an app into a folder that is removed after all tests. */
export async function built(root: string, settings: SluiceOptions = {}): Promise<Built> {
  const one = await build(settings, { root });
  folders.push(one.folder);
  return one;
}

/** Address of the file that has the component's code. */
export const fileOf = (of: Built, name: string): string => of.assets.components[name]?.js[0] ?? '';

type Boxes = PageTree['boxes'];

export const boxes = (
  names: readonly string[],
  hydration: 'load' | 'visible' | 'interaction' = 'load',
): Boxes => names.map((component) => ({ component, props: { start: 1 }, hydration }));

/** Serves a page of these boxes at `/`. */
export async function serve(t: TestContext, of: Built, tree: Boxes): Promise<string> {
  const registry = createRegistry({ adapters: [react(), vue(), plain] });
  of.register(registry);
  const pages = createPages({ registry, assets: of.manifest, vitals: null });
  const styles = styleHandler(pages);
  const server = http.createServer((request, response) => {
    void (async () => {
      const { pathname } = new URL(request.url ?? '', 'http://site');
      const file = path.join(of.folder, 'client', pathname);
      if (await styles(request, response)) return;
      if (pathname === '/') await respond(pages, request, response, { boxes: tree });
      else if (fs.existsSync(file)) {
        response.setHeader('content-type', pathname.endsWith('.css') ? 'text/css' : 'text/javascript');
        fs.createReadStream(file).pipe(response);
      } else response.writeHead(pathname === '/favicon.ico' ? 204 : 404).end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Components that fail on the page, with the reasons. */
export async function failures(page: Page): Promise<() => Promise<string[]>> {
  await page.addInitScript(() => {
    Object.assign(globalThis, { failed: [] });
    document.addEventListener(
      'sluice:failed',
      ({ detail }: CustomEventInit<{ component: string; reason: string }>) =>
        (globalThis as unknown as { failed: string[] }).failed.push(
          `${detail?.component}: ${detail?.reason}`,
        ),
    );
  });
  return () => page.evaluate(() => (globalThis as unknown as { failed: string[] }).failed);
}
