/** The graph of the shop: its places, and what is at each. Browsers import the types alone. */

import { callable, refTo, typedGraph } from '@sluice/graph/router';
import type { StandardSchema } from '@sluice/graph/router';
import type { Colour, Product, Review, Variant } from '../catalogue/types.js';
import type { Order } from '../data/orders.js';
import type { CartTotals } from '../shop/cart.js';
import type { Listing } from '../shop/facets.js';
import type { Drawn } from '../components/ProductArt.js';
import type { Visitor } from './visitor.js';

/** A choice of a product, as its card names it. */
export type Choice = Pick<Variant, 'sku' | 'size' | 'price_cents' | 'stock'> & {
  colour: Pick<Colour, 'name'>;
};

/** Part of a product that a card shows. A whole `Product` is one, too. */
export type Card = Drawn &
  Pick<
    Product,
    'slug' | 'summary' | 'price_cents' | 'was_cents' | 'rating' | 'stock' | 'sold' | 'added_day'
  > & {
    maker: Pick<Product['maker'], 'name'>;
    material: Pick<Product['material'], 'name'>;
    reviews: Pick<readonly Review[], 'length'>;
    variants: readonly Choice[];
  };

/** What the page of a product shows without its reviews. */
export type Facts = Card &
  Pick<Product, 'description' | 'highlights' | 'specs'> & {
    maker: Pick<Product['maker'], 'slug' | 'town'>;
    category: Pick<Product['category'], 'slug' | 'name'>;
    kind: Pick<Product['kind'], 'slug' | 'plural'>;
  };

/** What a visitor can choose of a product. */
export interface Choices {
  colours: readonly Colour[];
  sizes: readonly string[];
  variants: readonly (Pick<Choice, 'sku' | 'size' | 'price_cents' | 'stock'> & { colour: string })[];
}

export type Reviews = Pick<Product, 'rating' | 'rating_counts' | 'reviews'>;

/** A line of the cart without its quantity. */
export interface CartItem {
  product: Drawn & Pick<Product, 'slug'>;
  colour: Colour;
  size: string | null;
  price_cents: number;
}

/** Everything about a listing but its products. */
export type About = Omit<Listing, 'products'>;

/** Values that routes give and no client sets. */
function given<T>(): StandardSchema<T> {
  const validate = (): { issues: { message: string }[] } => ({
    issues: [{ message: 'is not for clients to set' }],
  });
  return { '~standard': { version: 1, vendor: 'storefront', validate } };
}

const change: StandardSchema<readonly [sku: string, quantity: number]> = {
  '~standard': {
    version: 1,
    vendor: 'storefront',
    validate(args) {
      const [sku, quantity, ...rest] = Array.isArray(args) ? (args as unknown[]) : [];
      const isChange =
        typeof sku === 'string' && Number.isInteger(quantity) && Number(quantity) >= 0 && rest.length === 0;
      if (!isChange) return { issues: [{ message: 'takes a SKU and a quantity from 0' }] };
      return { value: [sku, Number(quantity)] };
    },
  },
};

const product = refTo('products[{keys}]');

export const shopGraph = typedGraph<Visitor>()({
  /** By slug. */
  products: {
    '{keys}': {
      card: given<Card>(),
      facts: given<Facts>(),
      choices: given<Choices>(),
      /** First choice in stock; null where all are sold out. */
      sku: given<string | null>(),
      reviews: given<Reviews>(),
      together: { '{integers}': product },
    },
  },
  /** By the address of the listing's first page, such as `/c/desk?sort=rating`. */
  listings: { '{keys}': { about: given<About>(), '{integers}': product } },
  /** Products of the page platform: the first few in stock, which can be bought right there, and the others. */
  shelf: { picks: { '{integers}': product }, others: { '{integers}': product } },
  /** The visitor's own. */
  cart: {
    count: given<number>(),
    skus: given<readonly string[]>(),
    totals: given<Omit<CartTotals, 'lines'>>(),
    lines: { '{keys}': { item: given<CartItem>(), quantity: given<number>() } },
    add: callable(change),
    set: callable(change),
  },
  /** Who is signed in. */
  me: { name: given<string>(), email: given<string>(), orders: given<readonly Order[]>() },
});

export type ShopSchema = typeof shopGraph.schema;

/** Places that are the same for every visitor. */
const shared = new Set<unknown>(['products', 'listings', 'shelf'] satisfies (keyof ShopSchema)[]);

/** Whether the values of a path are the same for every visitor. */
export function isShared([root]: readonly unknown[]): boolean {
  return shared.has(root);
}
