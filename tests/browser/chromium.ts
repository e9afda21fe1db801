// A browser for tests: Debian's Chromium, or the one that CHROMIUM names.
import fs from 'node:fs';
import type { TestContext } from 'node:test';
import { type Browser, type Page, chromium } from 'playwright-core';

const PLACES = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** Where it is; undefined where there is none. */
export const chromiumPath = (): string | undefined =>
  PLACES.find((place) => place !== undefined && fs.existsSync(place));

const found = chromiumPath();
// In CI there has to be one.
if (found === undefined && process.env['CI'] === 'true')
  throw new Error('no Chromium: tests/scenarios/install.sh installs it');

export const noBrowser = found === undefined ? 'no Chromium is installed' : false;

export interface Opened {
  page: Page;
  /** Errors and warnings of the console, exceptions, and requests elsewhere than to the page's own host. */
  faults: string[];
}

export interface View {
  width?: number;
  height?: number;
  dark?: boolean;
}

/** Opens the address in a page of its own, which ends with the test. */
export async function open(
  t: TestContext,
  url: string,
  { width = 1440, height = 900, dark = false }: View = {},
): Promise<Opened> {
  const browser: Browser = await chromium.launch({ executablePath: found ?? '', args: ['--no-sandbox'] });
  t.after(() => browser.close());
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' });
  page.setDefaultTimeout(60_000);
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol !== 'data:' && host !== new URL(url).host) faults.push(`asks for ${request.url()}`);
  });
  await page.goto(url, { waitUntil: 'domcontentloaded' });
  return { page, faults };
}
