/** The example shop's own pages, with its own data; the visitor's cart and the filters change with each render. */

import { createCatalogue } from '../../../examples/storefront/src/catalogue/catalogue.ts';
import type { Site } from '../../../examples/storefront/src/components/Layout.tsx';
import { CartPage } from '../../../examples/storefront/src/pages/CartPage.tsx';
import { Compare } from '../../../examples/storefront/src/pages/Compare.tsx';
import { Home } from '../../../examples/storefront/src/pages/Home.tsx';
import { ListingPage } from '../../../examples/storefront/src/pages/ListingPage.tsx';
import { About, NotFound } from '../../../examples/storefront/src/pages/plain.tsx';
import { ProductPage } from '../../../examples/storefront/src/pages/ProductPage.tsx';
import { totalsOf, type CartTotals } from '../../../examples/storefront/src/shop/cart.ts';
import { listingOf } from '../../../examples/storefront/src/shop/facets.ts';
import { readFilters } from '../../../examples/storefront/src/shop/filters.ts';
import type { Page } from './other.tsx';

const catalogue = createCatalogue();

const siteOf = (seed: number, path: string): Site => ({
  categories: catalogue.categories,
  stylesheet: '/assets/storefront.css?v=1',
  cart_count: seed % 9,
  path,
  text: '',
});
const nth = <T,>(all: readonly T[], index: number): T => {
  const found = all[index % all.length];
  if (found === undefined) throw new Error('the catalogue is empty');
  return found;
};

export const home: Page<Site> = {
  data: (seed) => siteOf(seed, '/'),
  element: (site) => <Home site={site} catalogue={catalogue} />,
};

export const shopListing: Page<{ site: Site; listing: ReturnType<typeof listingOf> }> = {
  data(seed) {
    const filters = readFilters(new URLSearchParams(`page=${1 + (seed % 9)}`), catalogue);
    return {
      site: siteOf(seed, '/products'),
      listing: listingOf(catalogue, catalogue.products, filters, { per_page: 60 }),
    };
  },
  element: ({ site, listing }) => (
    <ListingPage site={site} listing={listing} title="Everything" blurb="The whole shop." path="/products" />
  ),
};

type Goods = typeof catalogue.products;

/** Product page with recommendations ready: to work them out costs more than the page, and is no rendering. */
export const product: Page<{ site: Site; at: number; found: Promise<Goods[number][]> }> = {
  data: (seed) => ({
    site: siteOf(seed, '/p/x'),
    at: seed,
    found: Promise.resolve(catalogue.products.slice(seed % 100, (seed % 100) + 8)),
  }),
  element: ({ site, at, found }) => (
    <ProductPage site={site} product={nth(catalogue.products, at)} recommendations={() => found} />
  ),
};

export const comparison: Page<{ site: Site; at: number }> = {
  data: (seed) => ({ site: siteOf(seed, '/compare/x'), at: seed }),
  element({ site, at }) {
    const category = nth(catalogue.categories, at);
    return <Compare site={site} category={category} kind={null} products={catalogue.inCategory(category)} />;
  },
};

// Light ones, where what each render costs whatever it renders counts most.

export const about: Page<Site> = {
  data: (seed) => siteOf(seed, '/about'),
  element: (site) => <About site={site} makers={catalogue.makers} />,
};

export const notFound: Page<Site> = {
  data: (seed) => siteOf(seed, '/nowhere'),
  element: (site) => <NotFound site={site} />,
};

/** Every other visitor has something in it. */
export const cart: Page<{ site: Site; totals: CartTotals }> = {
  data(seed) {
    const goods = nth(catalogue.products, seed).variants.slice(0, (seed % 2) * 2);
    const wanted = new Map(goods.map(({ sku }) => [sku, 1 + (seed % 3)]));
    return { site: siteOf(seed, '/cart'), totals: totalsOf(wanted, catalogue) };
  },
  element: ({ site, totals }) => <CartPage site={site} totals={totals} />,
};
