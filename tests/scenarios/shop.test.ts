// The example shop as `make start` runs it: with its own settings, on more than one worker.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createCatalogue } from '../../examples/storefront/src/catalogue/catalogue.ts';
import { noBrowser, open } from '../browser/chromium.ts';
import { eventually } from '../support/eventually.ts';
import { repositoryDir } from '../support/sluice.ts';
import { running } from './scenario.ts';

const home = path.join(repositoryDir, 'examples/storefront');
const address = {
  name: 'Ada Moor',
  email: 'ada@example.org',
  street: 'Weir 1',
  postcode: '12345',
  town: 'Wend',
};

void test(
  'the shop tells in its footer how long a page was queued, and a sold piece leaves kept listings',
  { skip: noBrowser },
  async (t) => {
    const data = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-shop-'));
    t.after(() => fs.rmSync(data, { recursive: true, force: true }));
    const settings = fs
      .readFileSync(path.join(home, 'sluice.toml'), 'utf8')
      .replace('"dist/client/assets"', JSON.stringify(path.join(home, 'dist/client/assets')));
    const sluice = await running(t, {
      entry: path.join(home, 'dist/server.js'),
      workers: 2,
      config: settings,
      env: { STOREFRONT_DATA: data, NODE_ENV: 'production' },
    });

    const { page, faults } = await open(t, `${sluice.url}/about`);
    await page
      .locator('[data-served]')
      .filter({ hasText: /^Sluice: This page was queued for [\d.]+ ms/ })
      .waitFor();
    assert.deepEqual(faults, []);

    const listing = async (): Promise<string> => (await fetch(`${sluice.url}/c/kitchen`)).text();
    const isSold = (html: string, sku: string): boolean =>
      html.includes(`<option value="${sku}" disabled="">`);
    const before = await listing();
    const choice = createCatalogue()
      .products.flatMap(({ variants }) => variants)
      .find(({ sku, stock }) => stock > 0 && stock < 20 && before.includes(`value="${sku}"`));
    assert.ok(choice !== undefined);
    const { sku, stock } = choice;
    const send = (path: string, fields: Record<string, string>, cookie = ''): Promise<Response> =>
      fetch(sluice.url + path, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams(fields),
        headers: { cookie },
      });
    const added = await send('/cart', { sku, quantity: String(stock) });
    const cookie = added.headers.getSetCookie()[0]?.split(';')[0];
    const ordered = await send('/checkout', address, cookie);
    assert.equal(ordered.headers.get('location'), '/thanks');
    assert.ok(!isSold(before, sku));
    // The listing is kept for a minute; an order does not wait for that.
    await eventually(async () => isSold(await listing(), sku));
  },
);
