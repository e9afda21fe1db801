/** What the page platform says of goods: plain data, for components and for native apps. It must not know pages. */

import type { Catalogue } from '../catalogue/catalogue.js';
import type { Colour, Product } from '../catalogue/types.js';

/** One product on a shelf. */
export interface Item {
  id: number;
  slug: string;
  name: string;
  maker: string;
  summary: string;
  price_cents: number;
  was_cents: number | null;
  rating: number;
  reviews: number;
  colours: readonly Colour[];
  category: { hue: number };
  kind: { art: string };
  /** First choice in stock; null where all are sold out. */
  sku: string | null;
}

/** `isPick`: it can be put into the cart straight from the listing. */
export interface ListedItem extends Item {
  isPick: boolean;
}

const listed = 48;
const picks = 5;

export function itemOf(product: Product): Item {
  return {
    id: product.id,
    slug: product.slug,
    name: product.name,
    maker: product.maker.name,
    summary: product.summary,
    price_cents: product.price_cents,
    was_cents: product.was_cents,
    rating: product.rating,
    reviews: product.reviews.length,
    colours: product.colours,
    category: { hue: product.category.hue },
    kind: { art: product.kind.art },
    sku: product.variants.find(({ stock }) => stock > 0)?.sku ?? null,
  };
}

/** Goods that sell best. The first few that are in stock are picks. */
export function listedItems({ products }: Catalogue): readonly ListedItem[] {
  const items = products
    .toSorted((a, b) => b.sold - a.sold || a.id - b.id)
    .slice(0, listed)
    .map(itemOf);
  const picked = new Set(items.filter(({ sku }) => sku !== null).slice(0, picks));
  return items.map((item) => ({ ...item, isPick: picked.has(item) }));
}
