// What tests look at in a page beside its text.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { noBrowser } from './chromium.ts';

const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const options = { skip: noBrowser, timeout: 180_000 };

/** Rules of accessibility that the page breaks, with the elements that do. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { violations } = await (
      globalThis as unknown as {
        axe: { run: () => Promise<{ violations: { id: string; nodes: { target: string[] }[] }[] }> };
      }
    ).axe.run();
    return violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(({ target }) => target.join(' '))
          .join(', ')}`,
    );
  });
}

export const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

/** Tables that are wider than what is seen of them. */
export const cutTables = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('.scroll')]
      .filter((one) => one.scrollWidth > one.clientWidth + 1)
      .map((one) => `${one.getAttribute('aria-label')}: ${one.scrollWidth} of ${one.clientWidth}`),
  );

/** Different numbers of tiles that rows have. */
export async function rowsOfTiles(page: Page): Promise<Set<number>> {
  const tops = await page.evaluate(() =>
    [...document.querySelectorAll('.tile')].map((tile) => tile.getBoundingClientRect().top),
  );
  const rows = new Map<number, number>();
  for (const top of tops) rows.set(top, (rows.get(top) ?? 0) + 1);
  return new Set(rows.values());
}

/** A picture for the eye, where SLUICE_TEST_SHOTS names a directory. */
export async function shot(page: Page, name: string): Promise<void> {
  const dir = process.env['SLUICE_TEST_SHOTS'];
  if (dir !== undefined) await page.screenshot({ path: path.join(dir, `${name}.png`), fullPage: true });
}
