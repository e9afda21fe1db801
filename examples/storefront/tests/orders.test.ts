/** Orders, stock and accounts, which all processes of the shop share. */

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { build } from './build.js';
import { createCatalogue } from '../src/catalogue/catalogue.js';
import type { Choices } from '../src/graph/schema.js';
import { startShop } from './server.js';
import type { Shop } from './server.js';

const { products } = createCatalogue();
const dist = join(import.meta.dirname, '../dist');
let folder: string;
let data: string;
/** Two processes on one database, as two workers are. */
let shops: readonly [Shop, Shop];

before(async () => {
  await mkdir(dist, { recursive: true });
  folder = await mkdtemp(join(dist, 'test-'));
  await build(folder);
  data = await mkdtemp(join(tmpdir(), 'storefront-'));
  const start = (): Promise<Shop> => startShop({ STOREFRONT_DATA: data }, 'server.js', folder);
  // At once: one of them makes the database.
  shops = await Promise.all([start(), start()]);
});

after(async () => {
  for (const shop of shops) assert.equal(await shop.stop(), 0);
  await Promise.all([folder, data].map((each) => rm(each, { recursive: true, force: true })));
});

interface Visit {
  status: number;
  text: string;
  location: string | null;
}

/** A browser that keeps cookies. */
class Visitor {
  readonly cookies = new Map<string, string>();

  async ask(shop: Shop, path: string, fields?: Record<string, string>, headers = {}): Promise<Visit> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const res = await fetch(shop.url + path, {
      redirect: 'manual',
      headers: { ...(cookie !== '' && { cookie }), ...headers },
      ...(fields !== undefined && { method: 'POST', body: new URLSearchParams(fields) }),
    });
    for (const set of res.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return { status: res.status, text: await res.text(), location: res.headers.get('location') };
  }
}

const address = {
  name: 'Ada Moor',
  email: 'ada@example.org',
  street: 'Weir 1',
  postcode: '12345',
  town: 'Wend',
};

/** A product that no other test of this file buys. */
const taken = new Set<string>();
function choice(stock_min: number) {
  for (const product of products) {
    const variant = product.variants.find(
      ({ sku, stock }) => stock >= stock_min && stock <= 20 && !taken.has(sku),
    );
    if (variant === undefined) continue;
    taken.add(variant.sku);
    return { product, variant };
  }
  throw new Error('The catalogue has no such choice.');
}

/** How many the page of the product says there are, of one choice: the props of its buy box travel in the page. */
async function stockOf(shop: Shop, { product, variant }: ReturnType<typeof choice>): Promise<number> {
  const paths = JSON.stringify([['products', product.slug, 'choices']]);
  const { text } = await new Visitor().ask(shop, `/model.json?method=get&paths=${encodeURIComponent(paths)}`);
  const { jsonGraph } = JSON.parse(text) as {
    jsonGraph: { products: Record<string, { choices: { value: Choices } }> };
  };
  const found = jsonGraph.products[product.slug]?.choices.value.variants.find(
    ({ sku }) => sku === variant.sku,
  );
  assert.ok(found !== undefined);
  return found.stock;
}

test('an_order_takes_its_goods_out_of_the_stock_of_every_process', async () => {
  const [first, second] = shops;
  const bought = choice(4);
  const visitor = new Visitor();
  assert.equal(await stockOf(second, bought), bought.variant.stock);
  await visitor.ask(first, '/cart', { sku: bought.variant.sku, quantity: '3' });
  const ordered = await visitor.ask(first, '/checkout', address);
  assert.equal(ordered.location, '/thanks');
  assert.match(
    (await visitor.ask(second, '/thanks')).text,
    /Order <strong>TW-\d{6}</,
    'either process knows the secret',
  );
  assert.equal(await stockOf(first, bought), bought.variant.stock - 3);
  assert.equal(await stockOf(second, bought), bought.variant.stock - 3);
});

test('the_last_pieces_are_sold_once_however_many_order_at_the_same_time', async () => {
  const bought = choice(5);
  const visitors = Array.from({ length: 8 }, () => new Visitor());
  const quantity = String(bought.variant.stock);
  await Promise.all(
    visitors.map((visitor, at) =>
      visitor.ask(shops[at % 2 === 0 ? 0 : 1], '/cart', { sku: bought.variant.sku, quantity }),
    ),
  );
  const orders = await Promise.all(
    visitors.map((visitor, at) => visitor.ask(shops[at % 2 === 0 ? 1 : 0], '/checkout', address)),
  );
  assert.deepEqual(
    orders.map(({ status }) => status).sort((a, b) => a - b),
    [303, ...Array<number>(7).fill(409)],
  );
  const refused = orders.find(({ status }) => status === 409);
  assert.match(refused?.text ?? '', /sold out\./);
  assert.match(refused?.text ?? '', /value="Ada Moor"/, 'nobody writes the address twice');
  assert.equal(await stockOf(shops[0], bought), 0);
});

test('an_order_with_one_short_line_takes_nothing', async () => {
  const [shop] = shops;
  const [scarce, plenty] = [choice(2), choice(2)];
  const [slow, quick] = [new Visitor(), new Visitor()];
  await slow.ask(shop, '/cart', { sku: plenty.variant.sku, quantity: '1' });
  await slow.ask(shop, '/cart', { sku: scarce.variant.sku, quantity: '2' });
  await quick.ask(shop, '/cart', { sku: scarce.variant.sku, quantity: String(scarce.variant.stock - 1) });
  assert.equal((await quick.ask(shop, '/checkout', address)).status, 303);
  const refused = await slow.ask(shop, '/checkout', address);
  assert.equal(refused.status, 409);
  assert.match(refused.text, /only 1 left/);
  assert.equal(await stockOf(shop, plenty), plenty.variant.stock);
  assert.equal(await stockOf(shop, scarce), 1);
});

test('more_than_there_is_does_not_go_into_a_cart', async () => {
  const [shop] = shops;
  const { variant } = choice(2);
  const visitor = new Visitor();
  const answer = await visitor.ask(shop, '/cart', { sku: variant.sku, quantity: String(variant.stock + 1) });
  assert.equal(answer.status, 409);
  assert.match(answer.text, new RegExp(`only ${variant.stock} of this choice left`));
});

test('a_customer_signs_in_at_one_process_and_sees_the_orders_at_the_other', async () => {
  const [first, second] = shops;
  const visitor = new Visitor();
  assert.equal((await visitor.ask(first, '/account')).location, '/login');
  const account = { name: 'Bo Lind', email: 'bo@example.org', password: 'a long enough one' };
  assert.equal((await visitor.ask(first, '/register', account)).location, '/account');
  await visitor.ask(second, '/cart', { sku: choice(2).variant.sku, quantity: '2' });
  const checkout = await visitor.ask(second, '/checkout');
  assert.match(checkout.text, /value="Bo Lind"/);
  await visitor.ask(second, '/checkout', { ...address, name: 'Bo Lind' });
  assert.match((await visitor.ask(first, '/account')).text, /Hello, (<!-- -->)?Bo Lind[\s\S]*TW-\d{6}/);

  assert.equal((await visitor.ask(second, '/logout', {})).location, '/');
  assert.equal((await visitor.ask(first, '/account')).location, '/login');
  const again = new Visitor();
  const wrong = await again.ask(first, '/login', { ...account, password: 'not the right one' });
  assert.equal(wrong.status, 401);
  assert.equal((await again.ask(first, '/login', { ...account, email: 'nobody@example.org' })).status, 401);
  assert.equal(
    (await again.ask(second, '/login', { ...account, email: 'BO@example.org' })).location,
    '/account',
  );
  assert.match((await again.ask(first, '/account')).text, /TW-\d{6}/);
});

test('an_account_needs_a_name_an_address_and_a_password_and_is_opened_once', async () => {
  const [shop] = shops;
  const good = { name: 'Cy Moss', email: 'cy@example.org', password: 'a long enough one' };
  for (const bad of [
    { name: ' ' },
    { email: 'nonsense' },
    { password: 'short' },
    { password: 'x'.repeat(201) },
  ])
    assert.equal(
      (await new Visitor().ask(shop, '/register', { ...good, ...bad })).status,
      422,
      JSON.stringify(bad),
    );
  const both = await Promise.all(shops.map((each) => new Visitor().ask(each, '/register', good)));
  assert.deepEqual(
    both.map(({ status }) => status).sort((a, b) => a - b),
    [303, 409],
  );
});

test('a_form_that_another_site_sends_does_nothing', async () => {
  const [shop] = shops;
  const bought = choice(2);
  const visitor = new Visitor();
  await visitor.ask(shop, '/cart', { sku: bought.variant.sku, quantity: '1' });
  const answer = await visitor.ask(shop, '/checkout', address, { 'sec-fetch-site': 'cross-site' });
  assert.equal(answer.status, 403);
  assert.equal(await stockOf(shop, bought), bought.variant.stock);
});

test('the_database_is_for_its_owner_alone_and_a_folder_that_cannot_be_used_is_named', async () => {
  assert.equal((await stat(join(data, 'shop.sqlite'))).mode & 0o077, 0);
  await assert.rejects(
    startShop({ STOREFRONT_DATA: '/dev/null/data' }, 'server.js', folder),
    /exited with 1/,
  );
  await assert.rejects(startShop({ STOREFRONT_SECRET: 'short' }, 'server.js', folder), /exited with 1/);
});
