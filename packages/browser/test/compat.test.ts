// React components on Preact's runtime: what React has rendered is taken over, by a tenth of the code.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type ComponentType, createElement } from 'react';
import { renderToString } from 'react-dom/server';
import sluice from '../src/vite/index.ts';
import { build } from './support/build.ts';
import { noBrowser, put, settled, view } from './support/browser.ts';
import { KILOBYTE, bytesOf } from './support/bytes.ts';
import { type Box, type Site, openSite } from './support/site.ts';

const options = { skip: noBrowser };
let site: Site;
before(async () => {
  site = await openSite(await build({ reactRuntime: 'preact', groupKb: 0 }));
});
after(async () => {
  await site.close();
  fs.rmSync(site.built.folder, { recursive: true, force: true });
});

/** A box of the first id, as React renders it on the server. */
async function box(n: string, props: Record<string, unknown> = {}): Promise<Box> {
  const { default: component } = (await site.built.components.get(n)?.()) ?? assert.fail(n);
  const element = createElement(component as ComponentType<Record<string, unknown>>, props);
  return { n, on: 'load', props, html: renderToString(element, { identifierPrefix: 'b1' }) };
}

void test('a listing is at most 15 KB of code, compressed by gzip', (t) => {
  const { all, own } = bytesOf(site.built, ['Counter', 'Card']);
  t.diagnostic(`${all} bytes with Preact, ${own} without`);
  assert.ok(all <= 15 * KILOBYTE, `${all} bytes`);
});

void test('components that React rendered are hydrated without a word, and answer', options, async (t) => {
  for (const [name, props] of [
    ['Counter', { start: 1 }],
    ['Form', { name: 'Ada' }],
    ['Ids', {}],
  ] as const) {
    const { page, said } = await view(t);
    await page.goto(put(site, { boxes: [await box(name, props)] }));
    await settled(page);
    assert.equal(await page.locator('sluice-box[ready=""]').count(), 1, name);
    if (name === 'Counter') {
      await page.getByText('add: 1').click();
      await page.getByText('add: 2').waitFor();
    }
    assert.deepEqual(said, []);
  }
});

void test('holes are rendered, and HTML that differs is told', options, async (t) => {
  const { page } = await view(t);
  await page.addInitScript(() => {
    const told: string[] = [];
    Object.assign(globalThis, { told });
    document.addEventListener('sluice:mismatch', (event) => told.push(event.detail.component));
  });
  const hole: Box = { n: 'Counter', hole: 'late', html: '<i>soon</i>', props: { start: 1 } };
  await page.goto(put(site, { boxes: [await box('Differs'), hole] }));
  await settled(page);
  await page.getByText('add: 1').click();
  await page.getByText('add: 2').waitFor();
  assert.deepEqual(await page.evaluate('told'), ['Differs']);
});

void test('components from the compiler of React bring no code of React along', async (t) => {
  const root = fs.mkdtempSync(path.join(site.built.folder, 'app-'));
  t.after(() => fs.rmSync(root, { recursive: true, force: true }));
  fs.mkdirSync(path.join(root, 'components'));
  const compiled = `import { c } from 'react/compiler-runtime';
    export default function Compiled() { const cache = c(1); return <b>{cache.length}</b>; }`;
  fs.writeFileSync(path.join(root, 'components/Compiled.jsx'), compiled);
  const built = await build({ reactRuntime: 'preact' }, { root, beside: root });
  const { all } = bytesOf(built, ['Compiled']);
  const client = path.join(built.folder, 'client');
  const files = fs
    .readdirSync(client, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js'));
  const code = files.map((file) => fs.readFileSync(path.join(client, file), 'utf8')).join('');
  assert.ok(!code.includes('__CLIENT_INTERNALS'), `code of React in ${all} bytes`);
});

void test('another runtime is refused', () => {
  assert.throws(
    () => sluice({ reactRuntime: 'inferno' as 'preact' }),
    /reactRuntime must be react or preact/,
  );
});
