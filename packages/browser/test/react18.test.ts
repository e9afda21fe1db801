// React 18, which many apps have: the same as React 19 in the browser, and less code.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { installIfStale } from '../../react/test/versions/install.ts';
import type { FailedDetail, MismatchDetail } from '../src/index.ts';
import { FIXTURE, build } from './support/build.ts';
import { noBrowser, put, settled, view } from './support/browser.ts';
import { KILOBYTE, bytesOf } from './support/bytes.ts';
import { type Box, type Site, openSite } from './support/site.ts';

const options = { skip: noBrowser };
const FOLDER = path.join(import.meta.dirname, 'react18');
const APP = path.join(FOLDER, 'node_modules/.app');

interface React18 {
  createElement: (view: unknown, props: unknown) => unknown;
  renderToString: (element: unknown, options: { identifierPrefix: string }) => string;
}

let site: Site;
let react18: React18;
before(async () => {
  installIfStale(FOLDER);
  // Below the folder, so that the app finds this React first.
  fs.cpSync(FIXTURE, APP, { recursive: true });
  const require = createRequire(path.join(FOLDER, 'package.json'));
  react18 = {
    createElement: (require('react') as React18).createElement,
    renderToString: (require('react-dom/server') as React18).renderToString,
  };
  site = await openSite(await build({}, { root: APP, beside: path.join(FOLDER, 'node_modules/.cache') }));
});
after(() => site.close());

/** A box of the first id, as React 18 renders it. */
async function box(n: string, props: Record<string, unknown> = {}): Promise<Box> {
  const load = site.built.components.get(n);
  const element = react18.createElement((await load?.())?.default, props);
  return { n, on: 'load', props, html: react18.renderToString(element, { identifierPrefix: 'b1' }) };
}

void test('a listing is at most 60 KB of code with React 18, compressed by gzip', (t) => {
  const { all, own } = bytesOf(site.built, ['Counter', 'Card']);
  t.diagnostic(`${all} bytes with React, ${own} without`);
  assert.ok(all <= 60 * KILOBYTE, `${all} bytes`);
});

void test('components of React 18 are hydrated without a word on the console', options, async (t) => {
  for (const [name, props] of [
    ['Counter', { start: 1 }],
    ['Form', { name: 'Ada' }],
    ['Ids', {}],
  ] as const) {
    const { page, said } = await view(t);
    await page.goto(put(site, { boxes: [await box(name, props)] }));
    await settled(page);
    assert.equal(await page.locator('sluice-box[ready=""]').count(), 1);
    if (name === 'Counter') {
      await page.getByText('add: 1').click();
      await page.getByText('add: 2').waitFor();
    }
    assert.deepEqual(said, []);
  }
});

void test('holes, mismatches and errors are as with React 19', options, async (t) => {
  const { page } = await view(t);
  await page.addInitScript(() => {
    const told: string[] = [];
    Object.assign(globalThis, { told });
    for (const type of ['sluice:mismatch', 'sluice:failed'])
      document.addEventListener(type, (event) =>
        told.push(`${type} ${(event as CustomEvent<MismatchDetail | FailedDetail>).detail.component}`),
      );
  });
  const hole: Box = { n: 'Counter', hole: 'late', html: '<i>soon</i>', props: { start: 1 } };
  const boxes = [await box('Differs'), hole, { ...hole, n: 'Throws' }, await box('Throws')];
  await page.goto(put(site, { boxes }));
  await settled(page);
  await page.getByText('add: 1').click();
  await page.getByText('add: 2').waitFor();
  for (const text of ['browser', 'soon', 'of the server']) await page.getByText(text).waitFor();
  const told = (await page.evaluate('told')) as string[];
  // React 18 says of a component that throws first that it tries again.
  const others = new Set(told.filter((each) => each !== 'sluice:mismatch Throws'));
  assert.deepEqual([...others].toSorted(), ['sluice:failed Throws', 'sluice:mismatch Differs']);
});
