/** What a visitor asked to see, read from a query string and written back to one. Unknown values are dropped. */

import type { Catalogue } from '../catalogue/catalogue.js';
import type { Product } from '../catalogue/types.js';

export const facetKeys = ['category', 'kind', 'maker', 'material', 'colour'] as const;
export type FacetKey = (typeof facetKeys)[number];

export const sorts = {
  popular: 'Most loved',
  new: 'New first',
  'price-up': 'Price, low to high',
  'price-down': 'Price, high to low',
  rating: 'Best rated',
  name: 'Name',
} as const;
export type Sort = keyof typeof sorts;

export const shows = [60, 120, 240] as const;

export interface Filters {
  chosen: Record<FacetKey, readonly string[]>;
  price_cents_min: number | null;
  price_cents_max: number | null;
  rating_min: number;
  in_stock: boolean;
  on_sale: boolean;
  sort: Sort;
  page: number;
  /** How many products a page shows, where the visitor may choose. */
  show: (typeof shows)[number];
  text: string;
}

const textLengthMax = 80;
const valuesMax = 12;

export function readFilters(query: URLSearchParams, catalogue: Catalogue): Filters {
  const known: Record<FacetKey, (slug: string) => boolean> = {
    category: (slug) => catalogue.category(slug) !== undefined,
    kind: (slug) => catalogue.categories.some((each) => each.kinds.some((kind) => kind.slug === slug)),
    maker: (slug) => catalogue.makers.some((each) => each.slug === slug),
    material: (slug) => catalogue.materials.some((each) => each.slug === slug),
    colour: (slug) => catalogue.colours.some((each) => each.slug === slug),
  };
  const values = (key: FacetKey): string[] =>
    [...new Set(query.getAll(key))].slice(0, valuesMax).filter(known[key]);
  const sort = query.get('sort') ?? '';
  return {
    chosen: {
      category: values('category'),
      kind: values('kind'),
      maker: values('maker'),
      material: values('material'),
      colour: values('colour'),
    },
    price_cents_min: cents(query.get('min')),
    price_cents_max: cents(query.get('max')),
    rating_min: bounded(query.get('rating'), 0, 5, 0),
    in_stock: query.get('stock') === '1',
    on_sale: query.get('sale') === '1',
    sort: sort in sorts ? (sort as Sort) : 'popular',
    page: bounded(query.get('page'), 1, 1000, 1),
    show: shows.find((count) => String(count) === query.get('show')) ?? 60,
    text: (query.get('q') ?? '').trim().slice(0, textLengthMax),
  };
}

/** The query string of `filters` with some of them changed; back to the first page unless a page is named. */
export function hrefOf(path: string, filters: Filters, change: Partial<Filters> = {}): string {
  const next: Filters = { ...filters, page: 1, ...change };
  const query = new URLSearchParams();
  if (next.text !== '') query.set('q', next.text);
  for (const key of facetKeys) for (const value of next.chosen[key]) query.append(key, value);
  if (next.price_cents_min !== null) query.set('min', String(next.price_cents_min / 100));
  if (next.price_cents_max !== null) query.set('max', String(next.price_cents_max / 100));
  if (next.rating_min > 0) query.set('rating', String(next.rating_min));
  if (next.in_stock) query.set('stock', '1');
  if (next.on_sale) query.set('sale', '1');
  if (next.sort !== 'popular') query.set('sort', next.sort);
  if (next.show !== 60) query.set('show', String(next.show));
  if (next.page > 1) query.set('page', String(next.page));
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

export function valuesOf(product: Product, key: FacetKey): readonly string[] {
  switch (key) {
    case 'category':
      return [product.category.slug];
    case 'kind':
      return [product.kind.slug];
    case 'maker':
      return [product.maker.slug];
    case 'material':
      return [product.material.slug];
    case 'colour':
      return product.colours.map((colour) => colour.slug);
  }
}

/** Whether a product passes; `except` leaves one facet out, as counting that facet's own values needs. */
export function passes(product: Product, filters: Filters, except?: FacetKey): boolean {
  for (const key of facetKeys) {
    const chosen = filters.chosen[key];
    if (key === except || chosen.length === 0) continue;
    if (!valuesOf(product, key).some((value) => chosen.includes(value))) return false;
  }
  if (filters.price_cents_min !== null && product.price_cents < filters.price_cents_min) return false;
  if (filters.price_cents_max !== null && product.price_cents > filters.price_cents_max) return false;
  if (product.rating < filters.rating_min) return false;
  if (filters.in_stock && product.stock === 0) return false;
  return !filters.on_sale || product.was_cents !== null;
}

const orders: Record<Sort, (a: Product, b: Product) => number> = {
  popular: (a, b) => b.sold * b.rating - a.sold * a.rating,
  new: (a, b) => b.added_day - a.added_day,
  'price-up': (a, b) => a.price_cents - b.price_cents,
  'price-down': (a, b) => b.price_cents - a.price_cents,
  rating: (a, b) => b.rating - a.rating || b.reviews.length - a.reviews.length,
  name: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
};

export function sorted(products: readonly Product[], sort: Sort): Product[] {
  return [...products].sort((a, b) => orders[sort](a, b) || a.id - b.id);
}

function bounded(text: string | null, min: number, max: number, otherwise: number): number {
  const value = Number.parseInt(text ?? '', 10);
  return Number.isFinite(value) ? Math.min(max, Math.max(min, value)) : otherwise;
}

function cents(text: string | null): number | null {
  const value = Number.parseFloat(text ?? '');
  return Number.isFinite(value) && value >= 0 && value < 100_000 ? Math.round(value * 100) : null;
}
