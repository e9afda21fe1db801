// Boxes that leave the document and others that come in their place, as htmx and Turbo do it; and the order and the times of hydration.
import assert from 'node:assert/strict';
import { type TestContext, after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { holdUp, noBrowser, put, settled, view } from './support/browser.ts';
import { build } from './support/build.ts';
import { type Box, type Site, openSite } from './support/site.ts';

const options = { skip: noBrowser };
let site: Site;
before(async () => {
  // Addresses tell which component is meant.
  site = await openSite(await build({ groupKb: 0 }));
});
after(() => site.close());

const living = (n: string, a: NonNullable<Box['a']>, id: string): Box => ({
  n,
  a,
  on: 'load',
  props: { id },
});

void test('a component ends when its box leaves, and lives on when it is only moved', options, async (t) => {
  const { page, said } = await view(t);
  const boxes = [
    living('Living', 'react', 'react'),
    living('preact/Living', 'preact', 'preact'),
    living('vue/Living', 'vue', 'vue'),
    living('plain/Living', 'plain', 'plain'),
  ];
  await page.goto(put(site, { boxes, before: '<main>', after: '</main><aside></aside>' }));
  await settled(page);
  const alive = (): Promise<unknown> => page.evaluate(() => [...(window.living ?? [])].sort());
  await page.waitForFunction(() => window.living?.size === 4);
  await page.evaluate(() => {
    const aside = document.querySelector('aside');
    for (const box of document.querySelectorAll('sluice-box')) aside?.append(box);
  });
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 20)));
  assert.deepEqual(await alive(), ['plain', 'preact', 'react', 'vue']);
  await page.evaluate(() => document.querySelector('aside')?.remove());
  await page.waitForFunction(() => window.living?.size === 0);
  assert.deepEqual(said, []);
});

void test(
  'a component in a slot lives while the one around it may show it again, and ends with it',
  options,
  async (t) => {
    const { page, said } = await view(t);
    const slots = { default: [living('Living', 'react', 'inner')] };
    await page.goto(
      put(site, { boxes: [{ n: 'Frame', on: 'load', slots }], before: '<main>', after: '</main>' }),
    );
    await settled(page);
    await page.waitForFunction(() => window.living?.size === 1);
    await page.locator('.toggle').click();
    await page.getByText('inner').waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => window.living?.size), 1);
    await page.locator('.toggle').click();
    await page.getByText('inner').waitFor();
    await page.evaluate(() => document.querySelector('main')?.remove());
    await page.waitForFunction(() => window.living?.size === 0);
    assert.deepEqual(said, []);
  },
);

void test('boxes that come after the page has loaded are hydrated', options, async (t) => {
  const { page, said } = await view(t);
  const box: Box = { n: 'Counter', on: 'load', props: { start: 7 } };
  await page.goto(put(site, { boxes: [], before: '<main id="here"></main>' }));
  await page.waitForLoadState('load');
  const html = (await site.html([box])).replaceAll('"b1"', '"later"');
  await page.evaluate((brought) => {
    const here = document.querySelector('#here');
    if (here) here.innerHTML = `<div>${brought}</div>`;
  }, html);
  await settled(page);
  await page.getByText('add: 7').click();
  await page.getByText('add: 8').waitFor();
  assert.deepEqual(said, []);
});

/** A page with a box in the slot of another, whose code is held up. Timers of a second and more run when the test says. */
async function nested(t: TestContext): Promise<{ page: Page; release: () => void }> {
  const { page } = await view(t);
  const slots: Box['slots'] = { default: [{ n: 'Counter', on: 'load', props: { start: 1 } }] };
  const boxes: Box[] = [{ n: 'Frame', on: 'load', props: { title: 'around' }, slots }];
  await page.addInitScript(() => {
    window.ready = [];
    window.timers = [];
    addEventListener('sluice:ready', (event) => {
      window.ready?.push((event as CustomEvent<{ component: string }>).detail.component);
    });
    const setTimeout = window.setTimeout.bind(window);
    window.setTimeout = ((run: () => void, ms?: number) =>
      ms !== undefined && ms >= 1_000 ? window.timers?.push(run) : setTimeout(run, ms)) as typeof setTimeout;
  });
  const release = await holdUp(page, /\/assets\/Frame/);
  await page.goto(put(site, { boxes }), { waitUntil: 'commit' });
  // Its code is there, and it waits for the component around it.
  await page.waitForFunction(
    () =>
      (window.timers?.length ?? 0) > 0 &&
      performance.getEntriesByType('resource').some(({ name }) => /\/assets\/Counter/.test(name)),
  );
  return { page, release };
}

void test('a component is there before those in its slots, whose code comes first', options, async (t) => {
  const { page, release } = await nested(t);
  assert.deepEqual(await page.evaluate(() => window.ready), []);
  release();
  await settled(page);
  assert.deepEqual(await page.evaluate(() => window.ready), ['Frame', 'Counter']);
});

void test('a component in a slot waits no longer than a second', options, async (t) => {
  const { page, release } = await nested(t);
  await page.evaluate(() => window.timers?.forEach((run) => run()));
  await page.locator('sluice-box[n=Counter][ready]').waitFor();
  assert.deepEqual(await page.evaluate(() => window.ready), ['Counter']);
  release();
  await settled(page);
});

void test(
  'a media query hydrates when it matches, a touch at once, and one that is none never',
  options,
  async (t) => {
    const { page, asked } = await view(t, { viewport: { width: 400, height: 600 } });
    const on = (query: string): NonNullable<Box['on']> => `media ${query}`;
    const boxes: Box[] = [
      { n: 'Counter', on: on('(min-width: 600px)'), props: { start: 1 } },
      { n: 'Form', on: on('(min-width: 5000px)'), props: { name: 'Ada' } },
      { n: 'Ids', on: on('no query'), props: {} },
    ];
    await page.goto(put(site, { boxes }));
    await page.waitForLoadState('load');
    assert.equal(await page.locator('sluice-box[ready]').count(), 0);
    assert.ok(!asked.includes('/assets/Counter.js'), asked.join());
    await page.setViewportSize({ width: 800, height: 600 });
    await page.locator('sluice-box[n=Counter][ready]').waitFor();
    await page.locator('sluice-box[n=Form] input').first().focus();
    await page.locator('sluice-box[n=Form][ready]').waitFor();
    assert.equal(await page.locator('sluice-box[n=Ids][ready]').count(), 0);
  },
);

declare global {
  // oxlint-disable-next-line no-var -- of the page
  interface Window {
    living?: Set<string>;
    ready?: string[];
    timers?: (() => void)[];
  }
}
