import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createCatalogue } from '../src/catalogue/catalogue.js';
import { generateProducts } from '../src/catalogue/generate.js';
import { cartLinesMax, formatCart, parseCart, totalsOf, withQuantity } from '../src/shop/cart.js';
import type { Cart } from '../src/shop/cart.js';
import { listed, listingOf } from '../src/shop/facets.js';
import type { Listing } from '../src/shop/facets.js';
import { hrefOf, readFilters } from '../src/shop/filters.js';
import type { Filters } from '../src/shop/filters.js';
import { money } from '../src/shop/money.js';
import { createRecommender } from '../src/shop/recommend.js';
import { createSearchIndex } from '../src/shop/search.js';
import { seal, unseal } from '../src/shop/signed-cookie.js';
import { drawingOf } from '../src/components/drawings.js';

const catalogue = createCatalogue();

function listingIn(filters: Filters, per_page: number): Listing {
  const { products } = catalogue;
  return listingOf(catalogue, products, listed(products, filters), filters, { per_page });
}

describe('catalogue', () => {
  test('twelve_categories_hold_more_than_six_hundred_products', () => {
    assert.equal(catalogue.categories.length, 12);
    assert.ok(catalogue.products.length >= 600);
    for (const category of catalogue.categories) assert.equal(catalogue.inCategory(category).length, 60);
  });

  test('two_workers_generate_the_same_products', () => {
    assert.deepEqual(generateProducts(), generateProducts());
  });

  test('slugs_and_skus_name_one_thing_each', () => {
    const slugs = catalogue.products.map((product) => product.slug);
    const skus = catalogue.products.flatMap((product) => product.variants.map((variant) => variant.sku));
    assert.equal(new Set(slugs).size, slugs.length);
    assert.equal(new Set(skus).size, skus.length);
  });

  test('every_product_has_words_a_price_and_a_drawing', () => {
    for (const product of catalogue.products) {
      assert.ok(product.price_cents > 0, product.slug);
      assert.ok(product.variants.length >= 2, product.slug);
      assert.ok(product.rating >= 1 && product.rating <= 5, product.slug);
      assert.ok(drawingOf(product.kind.art).length > 1, `${product.kind.slug} has no drawing of its own`);
      const prose = [product.summary, ...product.description, ...product.highlights].join(' ');
      assert.doesNotMatch(prose, /[{}]|undefined/, product.slug);
    }
  });
});

describe('filters', () => {
  test('every_listed_product_passes_and_none_is_lost_between_pages', () => {
    const filters = readFilters(
      new URLSearchParams('maker=quillhaven&colour=moss&colour=rust&stock=1'),
      catalogue,
    );
    const seen = new Set<number>();
    let pages = 1;
    let total = 0;
    for (let page = 1; page <= pages; page += 1) {
      const listing = listingIn({ ...filters, page }, 5);
      ({ pages, total } = listing);
      for (const product of listing.products) {
        assert.equal(product.maker.slug, 'quillhaven');
        assert.ok(product.colours.some((colour) => ['moss', 'rust'].includes(colour.slug)));
        assert.ok(product.stock > 0);
        seen.add(product.id);
      }
    }
    assert.ok(total > 5);
    assert.equal(seen.size, total);
  });

  test('a_count_beside_a_filter_is_what_choosing_it_gives', () => {
    const filters = readFilters(new URLSearchParams('category=kitchen&sale=1'), catalogue);
    const { facets } = listingIn(filters, 60);
    const maker = facets.find((facet) => facet.key === 'maker')?.values[0];
    assert.ok(maker !== undefined);
    const chosen = { ...filters, chosen: { ...filters.chosen, maker: [maker.slug] } };
    assert.equal(listingIn(chosen, 60).total, maker.count);
  });

  test('a_query_survives_being_read_and_written_and_unknown_values_are_dropped', () => {
    const text = 'q=wool&category=desk&maker=osterlow&min=10&rating=4&stock=1&sort=rating&page=3';
    const filters = readFilters(new URLSearchParams(`${text}&maker=nobody&colour=%3Cb%3E`), catalogue);
    assert.equal(hrefOf('/search', filters, { page: 3 }), `/search?${text}`);
  });
});

describe('search', () => {
  const index = createSearchIndex(catalogue);

  test('the_name_of_a_product_finds_it_first', () => {
    for (const product of catalogue.products.filter((each) => each.id % 37 === 0)) {
      assert.equal(index.search(product.name)[0]?.slug, product.slug);
    }
  });

  test('prefixes_match_and_one_typing_error_is_forgiven', () => {
    assert.ok(index.search('lanter').length > 0);
    assert.ok(index.search('lanxern').some((product) => product.name.toLowerCase().includes('lantern')));
    assert.deepEqual(index.search('zzzzqqq'), []);
  });

  test('recommendations_are_others_and_the_same_each_time', async () => {
    const recommend = createRecommender(catalogue);
    const [product] = catalogue.products;
    assert.ok(product !== undefined);
    const first = await recommend(product, 8);
    assert.equal(first.length, 8);
    assert.ok(!first.includes(product));
    assert.deepEqual(await recommend(product, 8), first);
  });
});

describe('cart', () => {
  test('a_cart_survives_its_text_and_ignores_nonsense', () => {
    const [one, two] = catalogue.products.map((product) => product.variants[0]?.sku ?? '');
    const cart = parseCart(`${one}:2,${two}:3,NO-SUCH:1,${one}x:9,:,a:b`, catalogue);
    assert.equal(formatCart(cart), `${one}:2,${two}:3`);
    assert.equal(totalsOf(cart, catalogue).count, 5);
  });

  test('a_full_cart_fits_into_a_cookie_and_takes_no_more', () => {
    let cart: Cart = new Map();
    for (const product of catalogue.products.slice(0, cartLinesMax + 5)) {
      const longest = [...product.variants].sort((a, b) => b.sku.length - a.sku.length)[0];
      cart = withQuantity(cart, longest?.sku ?? '', 20);
    }
    assert.equal(cart.size, cartLinesMax);
    assert.ok(seal('cart', formatCart(cart), 'secret').length < 4000);
  });

  test('a_changed_cookie_is_no_cookie', () => {
    const sealed = seal('cart', 'a:1', 'secret');
    assert.equal(unseal('cart', sealed, 'secret'), 'a:1');
    assert.equal(unseal('cart', sealed, 'another'), null);
    assert.equal(unseal('order', sealed, 'secret'), null);
    assert.equal(unseal('cart', `x${sealed}`, 'secret'), null);
    assert.equal(unseal('cart', undefined, 'secret'), null);
  });

  test('prices_read_as_on_a_price_tag', () => {
    assert.deepEqual([0, 990, 2400, 1_234_505].map(money), ['€0', '€9.90', '€24', '€12,345.05']);
  });
});
