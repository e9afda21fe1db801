// Pages of a site in Chromium, with what they said on the console and what they asked for.
import { type TestContext, after } from 'node:test';
import { type Browser, type BrowserContextOptions, type Page, chromium } from 'playwright-core';
import { chromiumPath } from '../../../../tests/browser/chromium.ts';
import type { PageSpec, Site } from './site.ts';

export { noBrowser } from '../../../../tests/browser/chromium.ts';

export interface View {
  readonly page: Page;
  /** Errors and warnings of the console, and exceptions. */
  readonly said: string[];
  /** Paths of requests, without hashes of builds: `/assets/Counter.js`. */
  readonly asked: string[];
}

let browser: Promise<Browser> | undefined;
after(async () => (await browser)?.close());

/** A page of its own, which ends with the test. */
export async function view(t: TestContext, options: BrowserContextOptions = {}): Promise<View> {
  browser ??= chromium.launch({ executablePath: chromiumPath() ?? '', args: ['--no-sandbox'] });
  const context = await (await browser).newContext(options);
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const said: string[] = [];
  const asked: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') said.push(message.text());
  });
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('request', (request) => asked.push(nameOf(request.url())));
  return { page, said, asked };
}

export function nameOf(url: string): string {
  return new URL(url).pathname.replace(/-[\w-]{8}(\.\w+)$/, '$1');
}

let pages = 0;

/** Puts the page on the site, at an address of its own, which it returns. */
export function put(site: Site, spec: PageSpec | Parameters<Site['pages']['set']>[1]): string {
  pages += 1;
  const path = `/page-${pages}`;
  site.pages.set(path, spec);
  return site.url + path;
}

/** Waits for every box that the browser has to take over, or has failed to. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () => document.querySelector('sluice-box:is([on],[hole]):not([ready],[hole=remote])') === null,
  );
}

/** Holds up requests whose paths match, until the function that it returns is called. */
export async function holdUp(page: Page, path: RegExp): Promise<() => void> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(
    ({ pathname }) => path.test(pathname),
    async (route) => {
      await released;
      await route.continue();
    },
  );
  return release;
}
