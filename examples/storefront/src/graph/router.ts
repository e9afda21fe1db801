/** Routes of the shop's graph. They read the catalogue, searches, recommendations, the visitor's cart and account. */

import { ref } from '@sluice/graph';
import { RouteError, Router } from '@sluice/graph/router';
import type { RouteOutput, RouteValue } from '@sluice/graph/router';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Product } from '../catalogue/types.js';
import type { Data } from '../data/data.js';
import { totalsOf, withQuantity } from '../shop/cart.js';
import type { Found, Listings } from '../shop/listings.js';
import type { Recommend } from '../shop/recommend.js';
import { cardOf, choicesOf, factsOf, firstInStock } from './parts.js';
import { shopGraph } from './schema.js';
import type { Card } from './schema.js';
import type { Visitor } from './visitor.js';

export interface RouterOptions {
  catalogue: Catalogue;
  data: Data;
  listings: Listings;
  recommend: Recommend;
}

const recommendationsMax = 8;
/** Listings of one request: each has to be found among all products. */
const listingsMax = 4;
const shelfMax = 48;
const picksMax = 5;

export function shopRouter({ catalogue, data, listings, recommend }: RouterOptions): Router<Visitor> {
  /** Values of the products that there are. */
  const ofProducts = (
    slugs: readonly (string | number)[],
    name: string,
    value: (product: Product) => unknown,
  ): RouteValue[] =>
    slugs.flatMap((slug) => {
      const product = catalogue.product(String(slug));
      return product === undefined ? [] : [{ path: ['products', slug, name], value: value(product) }];
    });
  const shelf = untilSold(data, () => shelfOf(catalogue));
  const cards = untilSold(data, () => new Map<Product, Card>());
  const card = (product: Product): Card => {
    const before = cards().get(product);
    if (before !== undefined) return before;
    const made = cardOf(product);
    cards().set(product, made);
    return made;
  };

  return new Router<Visitor>(
    [
      shopGraph.route('products[{keys:slugs}].card', {
        get: ({ slugs }) => ofProducts(slugs, 'card', card),
      }),
      shopGraph.route('products[{keys:slugs}].facts', {
        get: ({ slugs }) => ofProducts(slugs, 'facts', factsOf),
      }),
      shopGraph.route('products[{keys:slugs}].choices', {
        get: ({ slugs }) => ofProducts(slugs, 'choices', choicesOf),
      }),
      shopGraph.route('products[{keys:slugs}].sku', {
        get: ({ slugs }) => ofProducts(slugs, 'sku', (product) => firstInStock(product)?.sku ?? null),
      }),
      shopGraph.route('products[{keys:slugs}].reviews', {
        get({ slugs }, { data: visitor }) {
          if (visitor.failsReviews)
            throw new RouteError('The reviews were asked to fail', { statusCode: 503 });
          return ofProducts(slugs, 'reviews', ({ rating, rating_counts, reviews }) => ({
            rating,
            rating_counts,
            reviews,
          }));
        },
      }),
      shopGraph.route('products[{keys:slugs}].together[{integers:places}]', {
        get: async ({ slugs, places }, context) => {
          const all = await context.loadMany<readonly Product[]>('together', slugs);
          return slugs.flatMap((slug, at) =>
            references(['products', slug, 'together'], places, all[at] ?? []),
          );
        },
      }),
      shopGraph.route('listings[{keys:addresses}].about', {
        get: async ({ addresses }, context) => {
          const found = await context.loadMany<Found | undefined>('listing', addresses);
          return addresses.flatMap((address, at) => {
            if (found[at] === undefined) return [];
            const { products: _, ...about } = found[at].listing();
            return [{ path: ['listings', address, 'about'], value: about }];
          });
        },
      }),
      shopGraph.route('listings[{keys:addresses}][{integers:places}]', {
        get: async ({ addresses, places }, context) => {
          const found = await context.loadMany<Found | undefined>('listing', addresses);
          return addresses.flatMap((address, at) =>
            references(['listings', address], places, found[at]?.products() ?? []),
          );
        },
      }),
      shopGraph.route('shelf.picks[{integers:places}]', {
        get: ({ places }) => references(['shelf', 'picks'], places, shelf().picks),
      }),
      shopGraph.route('shelf.others[{integers:places}]', {
        get: ({ places }) => references(['shelf', 'others'], places, shelf().others),
      }),
      shopGraph.route('cart["count", "skus", "totals"]', {
        get: ({ 1: fields }, { data: visitor }) => cartValues(visitor, catalogue, fields),
      }),
      shopGraph.route('cart.lines[{keys:skus}]["item", "quantity"]', {
        get: ({ skus, 3: fields }, { data: visitor }) =>
          skus.flatMap((sku) => {
            const found = catalogue.variant(String(sku));
            if (found === undefined) return [];
            const { product, variant } = found;
            const { colour, size, price_cents } = variant;
            const { id, slug, name, colours, category, kind } = product;
            const drawn = {
              id,
              slug,
              name,
              colours,
              category: { hue: category.hue },
              kind: { art: kind.art },
            };
            const line = {
              item: { product: drawn, colour, size, price_cents },
              quantity: visitor.cart.get(variant.sku) ?? 0,
            };
            return fields.map((field) => ({ path: ['cart', 'lines', sku, field], value: line[field] }));
          }),
      }),
      shopGraph.route('cart.add', {
        call: (_, [sku, quantity], { data: visitor }) => {
          const variant = catalogue.variant(sku)?.variant;
          if (variant === undefined || quantity === 0) throw refusal(422, 'This choice does not exist.');
          if (variant.stock === 0) throw refusal(409, 'This choice is sold out.');
          const wanted = (visitor.cart.get(sku) ?? 0) + quantity;
          if (variant.stock < wanted)
            throw refusal(409, `There are only ${variant.stock} of this choice left.`);
          return withLine(visitor, catalogue, sku, wanted);
        },
      }),
      shopGraph.route('cart.set', {
        call: (_, [sku, quantity], { data: visitor }) => {
          if (!visitor.cart.has(sku)) throw refusal(404, 'This is not in your cart.');
          return withLine(visitor, catalogue, sku, quantity);
        },
      }),
      shopGraph.route('me["name", "email", "orders"]', {
        authorize: (_, { data: visitor }) => visitor.customer !== null,
        get: ({ 1: fields }, { data: visitor }) => {
          const { customer } = visitor;
          if (customer === null) return [];
          return fields.map((field) => ({
            path: ['me', field],
            value: field === 'orders' ? data.orders.of(customer.id) : customer[field],
          }));
        },
      }),
    ],
    {
      schema: shopGraph.schema,
      loaders: {
        together: (slugs: readonly (string | number)[]) =>
          Promise.all(
            slugs.map(async (slug) => {
              const product = catalogue.product(String(slug));
              return product === undefined ? [] : recommend(product, recommendationsMax);
            }),
          ),
        listing(addresses: readonly (string | number)[]) {
          if (addresses.length > listingsMax)
            throw refusal(400, `A request may have ${listingsMax} listings at most.`);
          return addresses.map((address) => listingAt(listings, String(address)));
        },
      },
    },
  );
}

/** The listing at an address. One listing has one address: other spellings would be kept as others. */
function listingAt(listings: Listings, address: string): Found | undefined {
  const at = address.indexOf('?');
  const [path, query] = at < 0 ? [address, ''] : [address.slice(0, at), address.slice(at + 1)];
  const found = listings.at(path, new URLSearchParams(query));
  return found?.address === address ? found : undefined;
}

function references(
  path: readonly (string | number)[],
  places: readonly number[],
  products: readonly Product[],
): RouteValue[] {
  return places.flatMap((place) => {
    const product = products[place];
    return product === undefined ? [] : [{ path: [...path, place], value: ref(['products', product.slug]) }];
  });
}

function refusal(statusCode: number, message: string): RouteError {
  return new RouteError(message, { statusCode });
}

/** Puts so many of a choice into the cart. Gives what a page shows of that. */
function withLine(visitor: Visitor, catalogue: Catalogue, sku: string, quantity: number): RouteOutput {
  visitor.cart = withQuantity(visitor.cart, sku, quantity);
  return [
    { path: ['cart', 'lines', sku, 'quantity'], value: visitor.cart.get(sku) ?? 0 },
    ...cartValues(visitor, catalogue, ['count', 'skus', 'totals']),
  ];
}

function cartValues(
  { cart }: Visitor,
  catalogue: Catalogue,
  fields: readonly ('count' | 'skus' | 'totals')[],
): RouteValue[] {
  const { lines: _, ...totals } = totalsOf(cart, catalogue);
  const values = { count: totals.count, skus: [...cart.keys()], totals };
  return fields.map((field) => ({ path: ['cart', field], value: values[field] }));
}

/** What sells best. */
function shelfOf({ products }: Catalogue): Record<'picks' | 'others', readonly Product[]> {
  const best = products.toSorted((a, b) => b.sold - a.sold || a.id - b.id).slice(0, shelfMax);
  const picks = best.filter((product) => firstInStock(product) !== undefined).slice(0, picksMax);
  return { picks, others: best.filter((product) => !picks.includes(product)) };
}

/** What is made of the goods, made again when something was sold. */
function untilSold<Made>({ stock }: Data, make: () => Made): () => Made {
  let version = stock.version();
  let made = make();
  return () => {
    if (version !== stock.version()) [version, made] = [stock.version(), make()];
    return made;
  };
}
