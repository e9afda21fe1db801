import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { build } from './build.js';
import { createCatalogue } from '../src/catalogue/catalogue.js';
import type { Suggestions } from '../src/shop/search.js';
import { startShop } from './server.js';
import type { Shop } from './server.js';

const { products } = createCatalogue();
let shop: Shop;
/** Processes with this one understand each other's cookies, though each has a database of its own. */
const shared = { STOREFRONT_SECRET: 'a secret that all processes of the test have' };

before(async () => {
  await build();
  shop = await startShop(shared);
});

after(async () => {
  assert.equal(await shop.stop(), 0, 'the shop left cleanly on SIGTERM');
});

async function get(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ res: Response; text: string }> {
  const res = await fetch(shop.url + path, { headers, redirect: 'manual' });
  return { res, text: await res.text() };
}

function post(
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(shop.url + path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers,
    redirect: 'manual',
  });
}

/** What a browser would send back of the cookies that an answer set. */
function cookiesOf(res: Response): string {
  return res.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .join('; ');
}

const inStock = products.find((product) => product.variants.every((variant) => variant.stock > 5));
const soldOut = products.flatMap((product) => product.variants).find((variant) => variant.stock === 0);

function buy(): Record<string, string> {
  const variant = inStock?.variants[0];
  assert.ok(inStock !== undefined && variant !== undefined);
  return {
    product: inStock.slug,
    colour: variant.colour.slug,
    ...(variant.size === null ? {} : { size: variant.size }),
    quantity: '2',
  };
}

describe('pages', () => {
  const pages = [
    '/', '/products', '/products?page=2&sort=price-up&sale=1', '/products?show=240', '/c/kitchen', `/p/${products[5]?.slug}`,
    '/search?q=oak', '/search?q=', '/explore', '/explore?q=wool', '/compare/sound', '/compare/sound?kind=radio',
    '/catalogue', '/catalogue?pictures=1', '/cart', '/about',
  ]; // prettier-ignore

  for (const path of pages) {
    test(`${path} is a whole document and the same when asked for again`, async () => {
      const first = await get(path);
      assert.equal(first.res.status, 200);
      assert.equal(first.res.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.match(first.text, /^<!DOCTYPE html><html lang="en">/);
      assert.match(first.text, /<\/body><\/html>/);
      assert.doesNotMatch(first.text, />(undefined|NaN|\[object Object\])</);
      assert.equal((await get(path)).text, first.text);
    });
  }

  test('a_listing_is_for_all_where_somebody_composes_pages_and_whole_where_nobody_does', async () => {
    const composes = { 'surrogate-capability': 'sluice="ESI/1.0"' };
    const cookie = cookiesOf(await post('/cart', buy()));
    const summary = await get('/cart/summary', { cookie });
    assert.equal(summary.text, '2');
    assert.match(summary.res.headers.get('cache-control') ?? '', /private/);
    for (const path of ['/products', '/c/kitchen']) {
      const forAll = await get(path, { ...composes, cookie });
      assert.match(forAll.res.headers.get('surrogate-control') ?? '', /max-age=.*content="ESI\/1\.0"/);
      assert.equal(forAll.res.headers.get('vary'), null);
      assert.equal((await get(path, composes)).text, forAll.text, 'nothing of the visitor is in it');
      const whole = await get(path, { cookie });
      assert.equal(whole.res.headers.get('surrogate-control'), null);
      const include = '<esi:include src="/cart/summary"></esi:include>';
      assert.equal(forAll.text.replace(include, summary.text), whole.text);
    }
    assert.equal((await get('/cart', composes)).res.headers.get('surrogate-control'), null);
  });

  test('a_listing_shows_sixty_cards_and_the_next_page_others', async () => {
    const links = (text: string): Set<string> => new Set(text.match(/card-link" href="[^"]+/g));
    const first = links((await get('/products')).text);
    const second = links((await get('/products?page=2')).text);
    assert.equal(first.size, 60);
    assert.equal(second.size, 60);
    assert.ok([...second].every((link) => !first.has(link)));
  });

  test('ids_on_a_page_are_unique', async () => {
    for (const path of ['/', '/products', `/p/${products[5]?.slug}`, '/for-you']) {
      const ids = [...(await get(path)).text.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]);
      assert.equal(new Set(ids).size, ids.length, path);
    }
  });

  test('what_a_visitor_typed_is_escaped', async () => {
    const { text } = await get('/search?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E');
    assert.ok(!text.includes('<script>alert(1)'));
    assert.ok(text.includes('&lt;script&gt;alert(1)'));
  });

  test('an_unknown_address_gets_a_page_with_404', async () => {
    for (const path of [
      '/nowhere',
      '/p/no-such-thing',
      '/c/nothing',
      '/compare/nothing',
      '/assets/none.css',
    ]) {
      const { res, text } = await get(path);
      assert.equal(res.status, 404, path);
      assert.match(text, /Washed away/);
    }
  });

  test('a_head_request_gets_headers_alone', async () => {
    const res = await fetch(`${shop.url}/about`, { method: 'HEAD' });
    assert.equal(res.status, 200);
    assert.equal(await res.text(), '');
  });
});

describe('assets', () => {
  test('the_page_names_a_stylesheet_and_a_script_that_may_be_kept_for_ever', async () => {
    const { text } = await get('/about');
    for (const found of [/href="(\/assets\/shop-[\w-]+\.css)"/, /src="(\/assets\/shop-[\w-]+\.js)"/]) {
      const path = found.exec(text)?.[1];
      assert.ok(path !== undefined, String(found));
      const asset = await get(path);
      assert.equal(asset.res.status, 200);
      assert.match(asset.res.headers.get('cache-control') ?? '', /immutable/);
    }
  });

  test('a_picture_that_is_still_fresh_is_answered_with_304', async () => {
    const { res } = await get('/assets/icon.svg');
    assert.match(res.headers.get('content-type') ?? '', /^image\/svg/);
    const again = await get('/assets/icon.svg', {
      'if-none-match': res.headers.get('etag') ?? '',
      // Without this line fetch() says `no-cache`, which asks for the whole file.
      'cache-control': 'max-age=0',
    });
    assert.equal(again.res.status, 304);
  });
});

describe('the renderer', () => {
  test('every_page_is_the_same_bytes_as_with_react_dom', async () => {
    const [category] = createCatalogue().categories;
    const paths = [
      '/',
      '/about',
      '/products',
      '/products?show=240',
      `/c/${category?.slug ?? ''}`,
      `/compare/${category?.slug ?? ''}`,
      ...products.slice(0, 5).map(({ slug }) => `/p/${slug}`),
      '/search?q=oak+lamp%22%3Cb%3E',
      '/explore',
      '/catalogue?pictures=1',
      '/cart',
      '/checkout',
      '/nowhere',
    ];
    const headers = { cookie: cookiesOf(await post('/cart', buy())) };
    const plain = await startShop(shared, 'server.react-dom.js');
    try {
      for (const path of paths) {
        const [fast, slow] = await Promise.all([get(path, headers), fetch(plain.url + path, { headers })]);
        assert.equal(fast.text, await slow.text(), path);
        assert.equal(fast.res.status, slow.status, path);
      }
    } finally {
      await plain.stop();
    }
  });
});

describe('search', () => {
  test('a_search_finds_a_product_by_its_name', async () => {
    const product = products[100];
    assert.ok(product !== undefined);
    const { text } = await get(`/search?q=${encodeURIComponent(product.name)}`);
    assert.equal(/card-link" href="([^"]+)/.exec(text)?.[1], `/p/${product.slug}`);
  });

  test('autocomplete_answers_with_words_categories_and_products', async () => {
    const { res, text } = await get('/api/suggest?q=lan');
    assert.match(res.headers.get('content-type') ?? '', /^application\/json/);
    const found = JSON.parse(text) as Suggestions;
    assert.equal(found.query, 'lan');
    assert.ok(found.words.includes('lantern'));
    assert.ok(found.products.length > 0 && found.products.length <= 6);
    assert.deepEqual(JSON.parse((await get('/api/suggest')).text), {
      query: '',
      words: [],
      categories: [],
      products: [],
    });
  });
});

describe('streaming', () => {
  test('the_shelves_of_for_you_arrive_after_the_page_around_them', async () => {
    const slow = await startShop({ STOREFRONT_WAIT_SCALE: '10' });
    try {
      const res = await fetch(`${slow.url}/for-you`);
      assert.ok(res.body !== null);
      const decoder = new TextDecoder();
      let text = '';
      let beforeShelves: string | undefined;
      for await (const chunk of res.body) {
        text += decoder.decode(chunk, { stream: true });
        if (beforeShelves === undefined && text.includes('Stocking this shelf')) beforeShelves = text;
      }
      assert.ok(beforeShelves !== undefined);
      assert.ok(!beforeShelves.includes('class="card"'), 'the first chunk has no shelf yet');
      assert.equal(text.match(/class="card"/g)?.length, 24);
      assert.match(text, /\$RC\(/);
    } finally {
      await slow.stop();
    }
  });

  test('two_renders_of_for_you_hold_the_same_goods_in_whatever_order_the_back_ends_answer', async () => {
    const goods = async (): Promise<string[]> =>
      ((await get('/for-you')).text.match(/card-link" href="[^"]+/g) ?? []).sort();
    const first = await goods();
    assert.equal(first.length, 24);
    assert.deepEqual(await goods(), first);
  });

  test('a_product_page_streams_its_recommendations', async () => {
    const { text } = await get(`/p/${products[9]?.slug}`);
    assert.match(
      text,
      /Looking for things that go with it…[\s\S]*<div hidden id="S:0">[\s\S]*Goes well with/,
    );
  });
});

describe('cart', () => {
  test('a_cart_lives_in_its_cookie_from_adding_to_thanks', async () => {
    const added = await post('/cart', buy());
    assert.equal(added.status, 303);
    assert.equal(added.headers.get('location'), '/cart');
    const cookie = cookiesOf(added);
    assert.match(added.headers.getSetCookie()[0] ?? '', /HttpOnly; SameSite=Lax/);

    const page = await get('/cart', { cookie });
    assert.ok(page.text.includes(inStock?.name ?? '?'));
    assert.match(page.text, /data-cart-count=""[^>]*>2</);

    const changed = await post(
      '/cart/update',
      { sku: inStock?.variants[0]?.sku ?? '', quantity: '5' },
      { cookie },
    );
    assert.match((await get('/about', { cookie: cookiesOf(changed) })).text, /data-cart-count=""[^>]*>5</);

    const wrong = await post('/checkout', { name: 'A B', email: 'nonsense' }, { cookie });
    assert.equal(wrong.status, 422);
    assert.match(await wrong.text(), /Please give an e-mail address\./);

    const address = {
      name: 'Ada Moor',
      email: 'ada@example.org',
      street: 'Weir 1',
      postcode: '12345',
      town: 'Wend',
    };
    const ordered = await post('/checkout', address, { cookie });
    assert.equal(ordered.status, 303);
    assert.equal(ordered.headers.get('location'), '/thanks');
    const thanks = await get('/thanks', { cookie: cookiesOf(ordered) });
    assert.match(thanks.text, /Order <strong>TW-\d{6}<\/strong>/);
    assert.match(thanks.text, /data-cart-count=""[^>]*>0</);
  });

  test('another_process_understands_the_cookie_and_nobody_can_change_it', async () => {
    const cookie = cookiesOf(await post('/cart', buy()));
    const other = await startShop(shared);
    try {
      const page = async (sent: string): Promise<string> =>
        (await fetch(`${other.url}/about`, { headers: { cookie: sent } })).text();
      assert.match(await page(cookie), /data-cart-count=""[^>]*>2</);
      assert.match(await page(cookie.replace('cart=', 'cart=A')), /data-cart-count=""[^>]*>0</);
    } finally {
      await other.stop();
    }
  });

  test('a_choice_that_is_sold_out_or_none_is_refused', async () => {
    assert.equal((await post('/cart', { sku: soldOut?.sku ?? '' })).status, 409);
    assert.equal((await post('/cart', { product: 'none' })).status, 422);
    assert.equal((await post('/cart', { ...buy(), quantity: '0' })).status, 422);
    assert.equal((await post('/cart', { ...buy(), quantity: '-3' })).status, 400);
  });

  test('a_body_that_is_too_large_is_refused_and_the_shop_goes_on', async () => {
    assert.equal((await post('/cart', { product: 'x'.repeat(20_000) })).status, 413);
    assert.equal((await get('/about')).res.status, 200);
  });
});
