/** The shop's data as one graph: over HTTP, behind forms, in pages, and in a browser. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import type { JsonGraph, PathSet } from '@sluice/graph';
import type { Page } from 'playwright-core';
import { noBrowser, open } from '../../../tests/browser/chromium.js';
import { createCatalogue } from '../src/catalogue/catalogue.js';
import { build } from './build.js';
import { startShop } from './server.js';
import type { Shop } from './server.js';

const run = promisify(execFile);
const dist = join(import.meta.dirname, '../dist');
/** Of its own, because other tests build the shop at the same time. */
let folder: string;
let shop: Shop;

before(async () => {
  await mkdir(dist, { recursive: true });
  folder = await mkdtemp(join(dist, 'test-'));
  await build(folder);
  shop = await startShop({}, 'server.js', folder);
});

after(async () => {
  await shop.stop();
  await rm(folder, { recursive: true, force: true });
});

const { products } = createCatalogue();
const product = products.find(({ variants }) => variants.every(({ stock }) => stock > 5));
assert.ok(product !== undefined);
const { slug } = product;
const sku = product.variants[0]?.sku ?? '';

interface Answer {
  res: Response;
  graph: JsonGraph;
}

async function get(paths: readonly PathSet[], cookie = ''): Promise<Answer> {
  const query = new URLSearchParams({ method: 'get', paths: JSON.stringify(paths) });
  const res = await fetch(`${shop.url}/model.json?${query}`, { headers: { cookie } });
  return { res, graph: ((await res.json()) as { jsonGraph: JsonGraph }).jsonGraph };
}

function call(name: 'add' | 'set', args: readonly unknown[], cookie = ''): Promise<Response> {
  const body = new URLSearchParams({
    method: 'call',
    callPath: JSON.stringify(['cart', name]),
    arguments: JSON.stringify(args),
  });
  return fetch(`${shop.url}/model.json`, { method: 'POST', body, headers: { cookie } });
}

function post(path: string, fields: Record<string, string>, cookie = ''): Promise<Response> {
  const body = new URLSearchParams(fields);
  return fetch(shop.url + path, { method: 'POST', body, headers: { cookie }, redirect: 'manual' });
}

const cookieOf = (res: Response): string => res.headers.getSetCookie()[0]?.split(';')[0] ?? '';

async function htmlOf(path: string, cookie = ''): Promise<string> {
  return (await fetch(shop.url + path, { headers: { cookie } })).text();
}

/** Graph that a page has for the browser. */
function stateOf(html: string): JsonGraph {
  const state = /data-sluice-graph>(.*?)<\/script>/.exec(html)?.[1];
  assert.ok(state !== undefined, 'the page has a graph');
  return JSON.parse(state) as JsonGraph;
}

test('goods_are_for_shared_caches_by_tag_and_nothing_of_a_visitor_is', async () => {
  const shared = await get([
    ['products', slug, 'card'],
    ['listings', '/search?q=oak', { from: 0, to: 1 }, 'card'],
  ]);
  assert.match(shared.res.headers.get('cache-control') ?? '', /public.*s-maxage=60/);
  assert.ok(shared.res.headers.get('cache-tag')?.split(', ').includes(`graph:products.${slug}`));
  assert.ok(shared.res.headers.get('etag'));
  for (const path of [
    ['cart', 'count'],
    ['me', 'name'],
    [['products', 'cart'], 'count'],
  ]) {
    const { res } = await get([path, ['products', slug, 'card']]);
    assert.match(res.headers.get('cache-control') ?? '', /private|no-store/, String(path));
    assert.equal(res.headers.get('cache-tag'), null);
  }
});

test('the_commands_of_the_docs_give_data', async () => {
  for (const file of ['../README.md', '../../../docs/guide/graph.md']) {
    const text = await readFile(join(import.meta.dirname, file), 'utf8');
    const commands = text.match(/^curl -G localhost:3000\/model\.json.*$/gm) ?? [];
    assert.ok(commands.length > 0, file);
    for (const command of commands) {
      const own = command.replace('curl', 'curl -s').replace('localhost:3000', new URL(shop.url).host);
      const { stdout } = await run('bash', ['-c', own]);
      const { jsonGraph } = JSON.parse(stdout) as { jsonGraph: JsonGraph };
      assert.doesNotMatch(JSON.stringify(jsonGraph), /"\$type":"error"|"\$type":"atom"}/, command);
    }
  }
});

test('the_graph_has_the_shelf_and_a_listing_only_by_its_one_address', async () => {
  const { graph } = await get([
    ['listings', ['/search?q=oak', '/search?page=2&q=oak', '/nowhere'], 0],
    ['shelf', 'picks', { length: 9 }, 'sku'],
  ]);
  const listings = graph['listings'] as Record<string, Record<string, { $type: string; value?: unknown }>>;
  assert.equal(listings['/search?q=oak']?.['0']?.$type, 'ref');
  for (const other of ['/search?page=2&q=oak', '/nowhere'])
    assert.deepEqual(listings[other]?.['0'], { $type: 'atom' });
  const picks = Object.values((graph['shelf'] as { picks: Record<string, { value?: unknown }> }).picks);
  assert.equal(picks.filter(({ value }) => value !== undefined).length, 5);
  const many = Array.from({ length: 9 }, (_, at) => `/search?q=a${at}`);
  const refused = await get([['listings', many, 0]]);
  assert.match(JSON.stringify(refused.graph), /4 listings at most/);
});

test('a_call_and_a_form_change_the_same_cart', async () => {
  const called = await call('add', [sku, 2]);
  assert.equal(called.status, 200);
  const { jsonGraph } = (await called.json()) as { jsonGraph: { cart: { count: number } } };
  assert.equal(jsonGraph.cart.count, 2);
  const form = await post('/cart', { sku, quantity: '1' }, cookieOf(called));
  assert.equal(form.status, 303);
  const set = await call('set', [sku, 5], cookieOf(form));
  const { graph } = await get([['cart', ['count', 'skus']]], cookieOf(set));
  assert.deepEqual(graph['cart'], { count: 5, skus: { $type: 'atom', value: [sku] } });
  const removed = await post('/cart/update', { sku, remove: '1' }, cookieOf(set));
  assert.match(removed.headers.getSetCookie()[0] ?? '', /cart=;/);

  for (const [name, args, status] of [
    ['add', ['NO-SUCH', 1], 422],
    ['add', [sku, 5000], 409],
    ['add', [sku, -1], 400],
    ['add', [sku, '1'], 400],
    ['add', [[sku], 1], 400],
    ['set', [sku, 1], 404],
  ] as const) {
    const refused = await call(name, args);
    assert.equal(refused.status, status, JSON.stringify(args));
    assert.deepEqual(refused.headers.getSetCookie(), []);
    await refused.body?.cancel();
  }
  const foreign = await fetch(`${shop.url}/model.json`, {
    method: 'POST',
    body: new URLSearchParams({ method: 'call', callPath: '["cart","add"]', arguments: `["${sku}",1]` }),
    headers: { 'sec-fetch-site': 'cross-site' },
  });
  assert.equal(foreign.status, 403);
  await foreign.body?.cancel();
});

test('a_visitor_has_the_own_cart_and_account_and_no_other', async () => {
  const one = cookieOf(await call('add', [sku, 3]));
  const account = { name: 'Ada Moor', email: 'ada@example.org', password: 'a long enough one' };
  const session = cookieOf(await post('/register', account));
  const me: PathSet = ['me', ['name', 'email']];
  const own = await get([me, ['cart', 'count']], `${one}; ${session}`);
  assert.deepEqual(own.graph['me'], { name: 'Ada Moor', email: 'ada@example.org' });
  assert.deepEqual(own.graph['cart'], { count: 3 });
  const other = await get([me, ['cart', 'count']], 'session=guessed; cart=forged.forged');
  assert.equal((other.graph['cart'] as { count: number }).count, 0);
  assert.match(JSON.stringify(other.graph['me']), /"\$type":"error".*403/);
  assert.doesNotMatch(JSON.stringify(other.graph), /Ada/);
  assert.match(await htmlOf('/account', session), /Hello, <!-- -->Ada Moor|Hello, Ada Moor/);
});

test('pages_have_the_values_of_their_islands_and_no_others', async () => {
  const page = stateOf(await htmlOf(`/p/${slug}`));
  assert.deepEqual(Object.keys(page), ['products']);
  assert.deepEqual(Object.keys((page['products'] as JsonGraph)[slug] ?? {}).sort(), ['choices', 'reviews']);
  const cart = stateOf(await htmlOf('/cart', cookieOf(await call('add', [sku, 2]))));
  assert.deepEqual(Object.keys(cart), ['cart']);
  const search = stateOf(await htmlOf('/search?q=oak'));
  assert.equal(Object.keys((search['listings'] as JsonGraph)['/search?q=oak'] ?? {}).length, 24);
  assert.doesNotMatch(await htmlOf('/products'), /data-sluice-graph/);
  for (const path of ['/search/?q=oak', '/Search?q=oak'])
    assert.deepEqual(stateOf(await htmlOf(path)), search, path);
  for (const odd of ['%22%5D.about', '__proto__', '%3C/script%3E', '%00'])
    assert.match(await htmlOf(`/search?q=${odd}`), /<\/html>/, odd);
  for (const odd of ['%22%5D.about', '__proto__', 'constructor'])
    assert.equal((await fetch(`${shop.url}/p/${odd}`)).status, 404, odd);
});

test('reviews_that_fail_leave_their_place_and_the_rest_of_the_page', async () => {
  const failed = await htmlOf(`/p/${slug}?fail=1`);
  assert.match(failed, /What people say<\/h2><!--\$!-->.*?Asking around…/);
  assert.doesNotMatch(failed, /class="review-list"/);
  assert.match(failed, /Goes well with/);
  assert.match(failed, /<\/html>/);
  const whole = await htmlOf(`/p/${slug}`);
  assert.match(whole, /class="review-list"/);
});

/** Paths that the page has asked `/model.json` for since it was opened, request by request. */
function askedBy(page: Page): PathSet[][] {
  const asked: PathSet[][] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname !== '/model.json') return;
    const text = url.searchParams.get('paths') ?? new URLSearchParams(request.postData() ?? '').get('paths');
    asked.push(JSON.parse(text ?? '[]') as PathSet[]);
  });
  return asked;
}

/** Opens a page of the shop and waits for its islands. */
async function shopper(
  t: TestContext,
  path: string,
): Promise<{ page: Page; faults: string[]; asked: PathSet[][] }> {
  const { page, faults } = await open(t, `${shop.url}/about`);
  const asked = askedBy(page);
  await page.goto(shop.url + path);
  await page.locator('[data-hydrated]').waitFor();
  return { page, faults, asked };
}

test('a_search_hydrates_without_a_request_and_asks_for_later_pages_once', { skip: noBrowser }, async (t) => {
  const { page, faults, asked } = await shopper(t, '/search?q=oak');
  const first = await page.locator('.card-name').first().textContent();
  const shown = (name: string | null): Promise<void> =>
    page
      .locator('.card-name')
      .first()
      .getByText(name ?? '?', { exact: true })
      .waitFor();
  await page.getByRole('link', { name: 'Next' }).click();
  await page.locator('.pages [aria-current]').getByText('2', { exact: true }).waitFor();
  await page.waitForFunction((name) => document.querySelector('.card-name')?.textContent !== name, first);
  assert.equal(new URL(page.url()).search, '?q=oak&page=2');
  assert.deepEqual(
    asked.map((paths) => paths.map(([, address, places]) => [address, places])),
    [[['/search?q=oak', { from: 24, to: 47 }]]],
    'one request, for the second page alone',
  );
  const second = await page.locator('.card-name').first().textContent();
  await page.goBack();
  await shown(first);
  await page.goForward();
  await shown(second);
  assert.equal(asked.length, 1, 'back and forward ask for nothing');

  await page.route('**/model.json*', (route) => route.abort());
  await page.getByRole('link', { name: 'Next' }).click();
  await page.getByText('This page cannot be shown just now.').waitFor();
  await page.goBack();
  await shown(second);
  await page.goForward();
  await page.unroute('**/model.json*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' });
  await page.locator('.card').first().waitFor();
  assert.deepEqual(
    faults.filter((fault) => !/ERR_FAILED|Failed to fetch/.test(fault)),
    [],
  );
});

test('a_listing_turns_its_pages_in_the_browser_and_back', { skip: noBrowser }, async (t) => {
  const { page, faults, asked } = await shopper(t, '/c/kitchen?sort=rating');
  assert.deepEqual(asked, []);
  await page.goto(`${shop.url}/products?sort=rating`);
  await page.locator('[data-hydrated]').waitFor();
  const first = await page.locator('.card-name').first().textContent();
  await page.getByRole('link', { name: 'Next' }).click();
  await page.locator('.pages [aria-current]').getByText('2', { exact: true }).waitFor();
  await page.locator('.card').first().waitFor();
  assert.notEqual(await page.locator('.card-name').first().textContent(), first);
  assert.equal(await page.locator('.card').count(), 60);
  assert.equal(asked.length, 1);
  await page.goBack();
  await page
    .locator('.card-name')
    .first()
    .getByText(first ?? '?', { exact: true })
    .waitFor();
  assert.deepEqual(faults, []);
});

test('a_product_goes_into_the_cart_by_a_call', { skip: noBrowser }, async (t) => {
  const { page, faults, asked } = await shopper(t, `/p/${slug}`);
  assert.deepEqual(asked, [], 'hydration asks for nothing');
  await page.getByLabel('Quantity').fill('2');
  await page.getByRole('button', { name: 'Add to cart', exact: true }).click();
  await page.getByText('Added to your cart.').waitFor();
  await page.locator('[data-cart-count]').getByText('2', { exact: true }).waitFor();
  assert.equal(asked.length, 1);

  await page.goto(`${shop.url}/cart`);
  await page.locator('[data-hydrated]').waitFor();
  const line = page.locator('.cart-line');
  const quantity = line.getByLabel('Quantity');
  const total = line.locator('.price-now');
  const two = await total.textContent();
  assert.equal(asked.length, 1, 'the cart is in its page');
  await page.route('**/model.json*', (route) => route.abort());
  await quantity.fill('4');
  await line.getByRole('button', { name: 'Change' }).click();
  await page.getByText('The shop cannot be reached just now.').waitFor();
  assert.equal(await quantity.inputValue(), '2', 'the quantity returns');
  assert.equal(await total.textContent(), two);
  await page.unroute('**/model.json*');
  await quantity.fill('3');
  await line.getByRole('button', { name: 'Change' }).click();
  await page.locator('[data-cart-count]').getByText('3', { exact: true }).waitFor();
  await page.reload();
  assert.equal(await page.locator('.cart-line').getByLabel('Quantity').inputValue(), '3');
  await page.locator('[data-hydrated]').waitFor();
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('There is nothing in it yet.').waitFor();
  await page.locator('[data-cart-count]').getByText('0', { exact: true }).waitFor();
  assert.deepEqual(
    faults.filter((fault) => !/ERR_FAILED|Failed to fetch/.test(fault)),
    [],
  );
});

test('reviews_that_failed_on_the_server_come_when_the_visitor_asks', { skip: noBrowser }, async (t) => {
  const { page, asked } = await shopper(t, `/p/${slug}?fail=1`);
  await page.getByText('The reviews cannot be shown just now.').waitFor();
  assert.deepEqual(asked, [], 'the browser knows that they failed');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.review-list').waitFor();
  assert.equal(asked.length, 1);
});

test('a_cart_works_without_scripts', { skip: noBrowser }, async (t) => {
  const { page } = await open(t, `${shop.url}/about`);
  const context = await page.context().browser()?.newContext({ javaScriptEnabled: false });
  assert.ok(context !== undefined);
  const plain = await context.newPage();
  await plain.goto(`${shop.url}/p/${slug}`);
  await plain.locator('.review-list').waitFor();
  await plain.getByRole('button', { name: 'Add to cart', exact: true }).click();
  await plain.waitForURL('**/cart');
  await plain.getByLabel('Quantity').fill('2');
  await plain.getByRole('button', { name: 'Change' }).click();
  await plain.locator('[data-cart-count]').getByText('2', { exact: true }).waitFor();
  await plain.goto(`${shop.url}/search?q=oak`);
  await plain.getByRole('link', { name: 'Next' }).click();
  await plain.waitForURL('**page=2');
  assert.equal(await plain.locator('.card').count(), 24);
});

test('a_listing_reads_its_first_page_from_the_graph_and_sends_none_of_it_as_state', async () => {
  for (const path of ['/products', '/c/kitchen?sort=name', '/products?show=120&page=2']) {
    const html = await (await fetch(shop.url + path)).text();
    const address = path.replace('&page=2', '');
    const from = path.includes('page=2') ? 120 : 0;
    const to = from + (path.includes('show=120') ? 119 : 59);
    const { graph } = await get([['listings', address, { from, to }, 'sku']]);
    const places = (graph['listings'] as JsonGraph)[address] as JsonGraph;
    const wanted = Object.values(places).map((place) => String((place as { value: unknown[] }).value[1]));
    const shown = [...html.matchAll(/class="card-link" href="\/p\/([\w-]+)"/g)].map(([, name]) => name);
    assert.deepEqual(shown, wanted, path);
    assert.doesNotMatch(html, /data-sluice-graph/, path);
  }
});

test('a_page_after_the_last_one_is_the_last_one_with_its_cards_in_the_state', async () => {
  const last = await (await fetch(`${shop.url}/search?q=mug&page=2`)).text();
  const beyond = await (await fetch(`${shop.url}/search?q=mug&page=77`)).text();
  const [state = ''] = /<script type="application\/json" data-sluice-graph.*?<\/script>/.exec(beyond) ?? [];
  assert.match(state, /"card"/);
  assert.equal(beyond, last);
});
