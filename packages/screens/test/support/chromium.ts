// A page in Chromium with a surface, bundled from the sources.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type Browser, type Page, chromium } from 'playwright-core';
import { chromiumPath } from '../../../../tests/browser/chromium.ts';
import type { BrowserOptions } from '../../src/surfaces/browser.ts';
import type { Page as Driver } from './page/main.ts';

export { noBrowser } from '../../../../tests/browser/chromium.ts';

declare global {
  var page: Driver;
}

let browser: Promise<Browser> | undefined;
after(async () => (await browser)?.close());

let bundle: Promise<string> | undefined;

async function bundled(): Promise<string> {
  const entry = fileURLToPath(new URL('page/main.ts', import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    write: false,
    target: 'es2022',
  });
  return outputFiles[0]?.text ?? '';
}

export interface Opened {
  readonly page: Page;
  /** Errors and warnings of the console, and exceptions. */
  readonly faults: string[];
}

/** Files of the page, by path. */
export type Files = Readonly<Record<string, { readonly type: string; readonly body: Buffer }>>;

/** Opens a surface in a page of its own. */
export async function open(
  t: TestContext,
  options: Omit<BrowserOptions, 'parent'>,
  files: Files = {},
): Promise<Opened> {
  bundle ??= bundled();
  const { width = 640, height = 360 } = options;
  const opened = await chromiumPage(t, await bundle, { width, height }, files);
  await opened.page.waitForFunction(() => 'page' in globalThis);
  await opened.page.evaluate((options) => globalThis.page.open(options), options);
  return opened;
}

/** Opens a page with a script. */
export async function chromiumPage(
  t: TestContext,
  script: string,
  viewport: { width: number; height: number },
  files: Files = {},
): Promise<Opened> {
  const server = http.createServer((request, response) => {
    const file = files[request.url ?? ''];
    if (file !== undefined) return void response.setHeader('content-type', file.type).end(file.body);
    if (request.url === '/main.js')
      return void response.setHeader('content-type', 'text/javascript').end(script);
    if (request.url !== '/') return void response.writeHead(404).end();
    response.setHeader('content-type', 'text/html');
    response.end(
      '<!doctype html><link rel="icon" href="data:,"><body style="margin:0"><script type="module" src="/main.js"></script>',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  browser ??= chromium.launch({
    executablePath: chromiumPath() ?? '',
    args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  });
  const context = await (await browser).newContext({ viewport });
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const faults: string[] = [];
  page.on('console', (message) => {
    // What Chromium says of drawing without a graphics card.
    const isDriver = /GPU stall|GL Driver Message/.test(message.text());
    if ((message.type() === 'error' || message.type() === 'warning') && !isDriver)
      faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return { page, faults };
}
