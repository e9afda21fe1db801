/** Routes of the living room's graph, over the shop's catalogue. */
import { ref } from '@sluice/graph';
import { RouteError, Router, type RouteValue } from '@sluice/graph/router';
import type { Catalogue } from '../../../storefront/src/catalogue/catalogue.js';
import type { Product } from '../../../storefront/src/catalogue/types.js';
import { createSearchIndex } from '../../../storefront/src/shop/search.js';
import { livingGraph, type Card, type Facts } from './schema.js';
import type { Viewer } from './viewer.js';

/** Products of one row or search: no more than a viewer would move through. */
const ROW_MAX = 20;
const SIMILAR_MAX = 12;
/** Characters of a search. */
const TEXT_MAX = 40;

const euros = new Intl.NumberFormat('en-IE', { style: 'currency', currency: 'EUR' });

export function livingRouter(catalogue: Catalogue): Router<Viewer> {
  const index = createSearchIndex(catalogue);
  const byId = new Map(catalogue.products.map((product) => [product.id, product]));
  const rows = catalogue.categories.map((category) => ({
    title: category.name,
    products: bestOf(catalogue.inCategory(category), ROW_MAX),
  }));
  const similarTo = (product: Product): readonly Product[] =>
    bestOf(
      catalogue.products.filter((other) => other !== product && other.kind === product.kind),
      SIMILAR_MAX,
    );
  const found = (text: string | number): readonly Product[] =>
    index.search(String(text).slice(0, TEXT_MAX)).slice(0, ROW_MAX);
  const watched = ({ watched: ids }: Viewer): readonly Product[] => ids.flatMap((id) => byId.get(id) ?? []);
  /** Values of the products that there are. */
  const ofProducts = (
    ids: readonly number[],
    name: string,
    value: (product: Product) => unknown,
  ): RouteValue[] =>
    ids.flatMap((id) => {
      const product = byId.get(id);
      return product === undefined ? [] : [{ path: ['products', id, name], value: value(product) }];
    });

  return new Router<Viewer>(
    [
      livingGraph.route('rows.length', { get: () => ({ path: ['rows', 'length'], value: rows.length }) }),
      livingGraph.route('rows[{integers:places}]["title", "length"]', {
        get: ({ places, 2: fields }) =>
          places.flatMap((place) => {
            const row = rows[place];
            if (row === undefined) return [];
            const values = { title: row.title, length: row.products.length };
            return fields.map((field) => ({ path: ['rows', place, field], value: values[field] }));
          }),
      }),
      livingGraph.route('rows[{integers:places}][{integers:columns}]', {
        get: ({ places, columns }) =>
          places.flatMap((place) => references(['rows', place], columns, rows[place]?.products ?? [])),
      }),
      livingGraph.route('products[{integers:ids}].card', {
        get: ({ ids }) => ofProducts(ids, 'card', cardOf),
      }),
      livingGraph.route('products[{integers:ids}].facts', {
        get: ({ ids }) => ofProducts(ids, 'facts', factsOf),
      }),
      livingGraph.route('products[{integers:ids}].similar[{integers:places}]', {
        get: ({ ids, places }) =>
          ids.flatMap((id) => {
            const product = byId.get(id);
            return product === undefined
              ? []
              : references(['products', id, 'similar'], places, similarTo(product));
          }),
      }),
      livingGraph.route('search[{keys:texts}].length', {
        get: ({ texts }) =>
          texts.map((text) => ({ path: ['search', text, 'length'], value: found(text).length })),
      }),
      livingGraph.route('search[{keys:texts}][{integers:places}]', {
        get: ({ texts, places }) =>
          texts.flatMap((text) => references(['search', text], places, found(text))),
      }),
      livingGraph.route('again.length', {
        get: (_, { data: viewer }) => ({ path: ['again', 'length'], value: watched(viewer).length }),
      }),
      livingGraph.route('again[{integers:places}]', {
        get: ({ places }, { data: viewer }) => references(['again'], places, watched(viewer)),
      }),
      livingGraph.route('again.add', {
        call(_, [id], { data: viewer }) {
          if (!byId.has(id)) throw new RouteError('There is no such product', { statusCode: 404 });
          viewer.watched = [id, ...viewer.watched.filter((other) => other !== id)];
          const now = watched(viewer);
          return [
            { path: ['again', 'length'], value: now.length },
            ...references(['again'], [...now.keys()], now),
          ];
        },
      }),
    ],
    { schema: livingGraph.schema },
  );
}

function bestOf(products: readonly Product[], count: number): readonly Product[] {
  return products.toSorted((a, b) => b.sold - a.sold || a.id - b.id).slice(0, count);
}

function references(
  path: readonly (string | number)[],
  places: readonly number[],
  products: readonly Product[],
): RouteValue[] {
  return places.flatMap((place) => {
    const product = products[place];
    return product === undefined ? [] : [{ path: [...path, place], value: ref(['products', product.id]) }];
  });
}

function cardOf({ id, name, category, price_cents, rating }: Product): Card {
  return { id, name, category: category.name, price: euros.format(price_cents / 100), rating };
}

function factsOf(product: Product): Facts {
  const { id, summary, description, maker, material, specs } = product;
  return {
    summary,
    description: description[0] ?? '',
    maker: maker.name,
    town: maker.town,
    material: material.name,
    specs: specs.slice(0, 4).map(({ name, text }) => ({ name, text })),
    film_s: 90 + ((id * 37) % 150),
  };
}
