/** The page platform: HTML and JSON of its trees, what fails, styles, and what a browser makes of it. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { noBrowser, open } from '../../../tests/browser/chromium.js';
import { build } from './build.js';
import { startShop } from './server.js';
import type { Shop } from './server.js';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
/** Of its own, because other tests build the shop at the same time. */
let folder: string;
let suggestions: Shop;
let shop: Shop;

before(async () => {
  await mkdir(dist, { recursive: true });
  folder = await mkdtemp(join(dist, 'test-'));
  await build(folder);
  suggestions = await startShop({}, 'suggestions.js', folder);
  shop = await startShop({ STOREFRONT_SUGGESTIONS: `${suggestions.url}/batch` }, 'server.js', folder);
});

after(async () => {
  await shop.stop();
  await suggestions.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Box {
  id: string;
  component: string;
  hole: string | undefined;
}

async function htmlOf(path: string, from: Shop = shop): Promise<string> {
  const res = await fetch(from.url + path, { headers: { accept: 'text/html' } });
  assert.equal(res.status, 200);
  return await res.text();
}

/** All boxes of a page, in its order. */
function boxesOf(html: string): readonly Box[] {
  return [...html.matchAll(/<sluice-box ([^>]*)>/g)].map(([, attributes = '']) => {
    const attribute = (name: string): string | undefined =>
      new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1];
    return { id: attribute('i') ?? '', component: attribute('n') ?? '', hole: attribute('hole') };
  });
}

const holesOf = (html: string): readonly Box[] => boxesOf(html).filter(({ hole }) => hole !== undefined);

function stylesOf(html: string): string {
  const href = /<link rel="stylesheet" href="([^"]+)"/.exec(html)?.[1];
  assert.ok(href !== undefined, 'the page links its styles');
  return href;
}

interface JsonBox {
  id: string;
  component: string;
  data: Record<string, unknown>;
  slots?: Record<string, JsonBox[]>;
}

function flat(boxes: readonly JsonBox[]): readonly JsonBox[] {
  return boxes.flatMap((box) => [box, ...flat(Object.values(box.slots ?? {}).flat())]);
}

test('the listing has 60 boxes, each with its HTML', async () => {
  let html = await htmlOf('/shelf');
  // The service of suggestions has 300 ms, which a cold one on a busy machine may not keep.
  for (let tries = 1; tries < 20 && holesOf(html).length > 0; tries++) {
    assert.deepEqual(
      holesOf(html).map(({ component }) => component),
      ['Suggestions'],
    );
    html = await htmlOf('/shelf');
  }
  assert.equal(boxesOf(html).length, 60);
  assert.deepEqual(holesOf(html), []);
  assert.match(html, /You may like/, 'the service has given its box');
});

test('a box that throws leaves a hole, and the other 59 as they are', async () => {
  const whole = await htmlOf('/shelf?layout=grid');
  const failed = await htmlOf('/shelf?layout=grid&fail=1');
  assert.deepEqual(holesOf(failed), [{ id: 'tip', component: 'Tip', hole: 'error' }]);
  assert.match(failed, /A tip is on its way/);
  const others = (html: string): string =>
    html
      .slice(html.indexOf('<body'))
      .replace(/<sluice-box n="Tip".*?<\/sluice-box><script[^>]*>.*?<\/script>/s, '')
      .replace(/<script[^>]*data-sluice-page>.*?<\/script>/s, '');
  assert.equal(others(failed), others(whole));
});

test('native apps get the same boxes as JSON', async () => {
  const res = await fetch(`${shop.url}/shelf?layout=grid`, { headers: { accept: 'application/json' } });
  assert.match(res.headers.get('content-type') ?? '', /^application\/json/);
  assert.match(res.headers.get('vary') ?? '', /\baccept\b/i);
  const page = (await res.json()) as { boxes: JsonBox[] };
  const boxes = flat(page.boxes);
  const html = await htmlOf('/shelf?layout=grid');
  const named = ({ id, component }: { id: string; component: string }): string => `${id} ${component}`;
  assert.deepEqual(boxes.map(named), boxesOf(html).map(named));
  const card = boxes.find(({ component }) => component === 'Card');
  assert.equal(card?.data['url'], `/shelf/${String(card?.data['slug'])}`);
  assert.ok(html.includes(`href="${card.data['url']}"`));
});

test('an arm of the experiment has cards and styles of its own', async () => {
  const names = (html: string): readonly string[] => boxesOf(html).map(({ component }) => component);
  const [grid, wide] = await Promise.all([htmlOf('/shelf?layout=grid'), htmlOf('/shelf?layout=wide')]);
  assert.equal(names(grid).filter((name) => name === 'Card').length, 48);
  assert.equal(names(grid).includes('CardWide'), false);
  assert.equal(names(wide).filter((name) => name === 'CardWide').length, 48);
  assert.equal(names(wide).includes('Card'), false);
});

test('styles have a URL for the set that never changes, and nobody can make one up', async () => {
  const [grid, wide] = await Promise.all([htmlOf('/shelf?layout=grid'), htmlOf('/shelf?layout=wide')]);
  const href = stylesOf(grid);
  assert.notEqual(href, stylesOf(wide));
  const styles = await fetch(shop.url + href);
  assert.equal(styles.status, 200);
  assert.equal(styles.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.match(styles.headers.get('content-type') ?? '', /^text\/css/);
  assert.match(await styles.text(), /--sea/);
  const madeUp = await fetch(shop.url + href.replace(/.{4}\.css$/, 'AAAA.css'));
  assert.equal(madeUp.status, 404);
  await madeUp.body?.cancel();
});

test('a service that is down, or never answers, costs its own box alone', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const down = createServer().listen(0, '127.0.0.1');
  await once(down, 'listening');
  const { port: closedPort } = down.address() as AddressInfo;
  await new Promise((resolve) => down.close(resolve));
  try {
    for (const each of [port, closedPort]) {
      const alone = await startShop(
        { STOREFRONT_SUGGESTIONS: `http://127.0.0.1:${each}/batch` },
        'server.js',
        folder,
      );
      try {
        const html = await htmlOf('/shelf', alone);
        assert.equal(boxesOf(html).length, 60);
        assert.deepEqual(holesOf(html), [{ id: 'suggestions', component: 'Suggestions', hole: 'remote' }]);
        assert.match(html, /Nothing to suggest at the moment/);
      } finally {
        await alone.stop();
      }
    }
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
});

test('a product has its reviews, which a browser can ask for alone', async () => {
  const html = await htmlOf('/shelf/swift-pencil-set');
  assert.deepEqual(holesOf(html), []);
  assert.match(html, /<h1>Swift pencil set<\/h1>/);
  const box = await fetch(`${shop.url}/shelf/swift-pencil-set/box?box=reviews`);
  assert.equal(box.status, 200);
  const { props } = (await box.json()) as { props: string };
  const { reviews } = JSON.parse(props) as { reviews: { author: string }[] };
  assert.ok(reviews.length > 0 && html.includes(reviews[0]?.author ?? '-'));
  const unknown = await fetch(`${shop.url}/shelf/nothing-of-the-sort`);
  assert.equal(unknown.status, 404);
  await unknown.body?.cancel();
});

test('code of components that are built is kept by browsers for good', async () => {
  const html = await htmlOf('/shelf');
  const runtime = /src="(\/assets\/sluice-[^"]+\.js)"/.exec(html)?.[1];
  assert.ok(runtime !== undefined, 'the page has the runtime');
  const res = await fetch(shop.url + runtime);
  assert.equal(res.status, 200);
  assert.match(res.headers.get('cache-control') ?? '', /immutable/);
  await res.body?.cancel();
});

test(
  'a browser fills the hole, adds to the cart, and says nothing on its console',
  { skip: noBrowser },
  async (t) => {
    const { page, faults } = await open(t, `${shop.url}/shelf?layout=grid&fail=1`);
    await page.getByText('Oil a wooden board twice a year').waitFor();
    await page.locator('sluice-box[n="QuickAdd"][ready]').first().waitFor();
    await page.getByRole('button', { name: 'Add to cart' }).first().click();
    await page.getByRole('button', { name: 'In the cart' }).waitFor();
    const loaded = await page.evaluate(() =>
      performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname),
    );
    // Small components share files: none comes that is of others alone.
    const { components } = JSON.parse(await readFile(join(folder, 'sluice-assets.json'), 'utf8')) as {
      components: Record<string, { js: readonly string[] }>;
    };
    const fileOf = (name: string): string | undefined => components[name]?.js[0];
    const own = new Set(Object.keys(components).map(fileOf));
    assert.deepEqual(
      new Set(loaded.filter((each) => own.has(each))),
      new Set([fileOf('Tip'), fileOf('QuickAdd')]),
      'code comes for the components that the page has',
    );

    await page.goto(`${shop.url}/shelf/swift-pencil-set`);
    await page.locator('sluice-box[n="Favourite"][ready]').waitFor();
    await page.getByRole('button', { name: /^Favourite/ }).click();
    await page.locator('[aria-pressed="true"]').waitFor();
    await page.getByRole('button', { name: /^Show all/ }).click();
    await page.getByRole('button', { name: /^Show all/ }).waitFor({ state: 'detached' });
    await page.goto(`${shop.url}/cart`);
    await page.getByText('Swift pencil set').first().waitFor();
    assert.deepEqual(faults, []);
  },
);
