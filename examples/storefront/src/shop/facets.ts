/** Counts how many products each filter value would leave, and cuts listings into pages. */

import type { Catalogue } from '../catalogue/catalogue.js';
import type { Product } from '../catalogue/types.js';
import { facetKeys, passes, sorted, valuesOf } from './filters.js';
import type { FacetKey, Filters } from './filters.js';

export interface FacetValue {
  slug: string;
  name: string;
  count: number;
  chosen: boolean;
  hex?: string;
}

export interface Facet {
  key: FacetKey;
  name: string;
  values: readonly FacetValue[];
}

export interface Listing {
  filters: Filters;
  products: readonly Product[];
  total: number;
  page: number;
  pages: number;
  facets: readonly Facet[];
  price_cents_low: number;
  price_cents_high: number;
}

const facetNames: Record<FacetKey, string> = {
  category: 'Category',
  kind: 'Kind',
  maker: 'Maker',
  material: 'Material',
  colour: 'Colour',
};

/** `found` are those of `from` that pass, in order. `fixed` are facets that the page itself decides, a category page its category, say: they are not offered. */
export function listingOf(
  catalogue: Catalogue,
  from: readonly Product[],
  found: readonly Product[],
  filters: Filters,
  options: { per_page: number; fixed?: readonly FacetKey[] },
): Listing {
  const pages = Math.max(1, Math.ceil(found.length / options.per_page));
  const page = Math.min(filters.page, pages);
  const prices = found.map((product) => product.price_cents);
  return {
    filters,
    products: found.slice((page - 1) * options.per_page, page * options.per_page),
    total: found.length,
    page,
    pages,
    facets: facetKeys
      .filter((key) => options.fixed?.includes(key) !== true)
      .map((key) => facetOf(catalogue, from, filters, key)),
    price_cents_low: prices.reduce((low, price) => Math.min(low, price), prices[0] ?? 0),
    price_cents_high: prices.reduce((high, price) => Math.max(high, price), 0),
  };
}

/** All products that pass, in order. `ranked`: those of `from` come in the order of a search. */
export function listed(
  from: readonly Product[],
  filters: Filters,
  options: { ranked?: boolean } = {},
): readonly Product[] {
  const found = from.filter((product) => passes(product, filters));
  return options.ranked === true && filters.sort === 'popular' ? found : sorted(found, filters.sort);
}

function facetOf(catalogue: Catalogue, from: readonly Product[], filters: Filters, key: FacetKey): Facet {
  const counts = new Map<string, number>();
  for (const product of from) {
    if (!passes(product, filters, key)) continue;
    for (const value of valuesOf(product, key)) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const values = namesOf(catalogue, key)
    .map((each) => ({
      ...each,
      count: counts.get(each.slug) ?? 0,
      chosen: filters.chosen[key].includes(each.slug),
    }))
    .filter((each) => each.count > 0 || each.chosen)
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  return { key, name: facetNames[key], values };
}

function namesOf(catalogue: Catalogue, key: FacetKey): { slug: string; name: string; hex?: string }[] {
  const named = (each: { slug: string; name: string }): { slug: string; name: string } => ({
    slug: each.slug,
    name: each.name,
  });
  switch (key) {
    case 'category':
      return catalogue.categories.map(named);
    case 'kind':
      return catalogue.categories.flatMap((each) =>
        each.kinds.map((kind) => ({ slug: kind.slug, name: kind.plural })),
      );
    case 'maker':
      return catalogue.makers.map(named);
    case 'material':
      return catalogue.materials.map(named);
    case 'colour':
      return catalogue.colours.map((each) => ({ ...named(each), hex: each.hex }));
  }
}

export interface CrossTable {
  rows: readonly { slug: string; name: string; total: number }[];
  columns: readonly { slug: string; name: string; total: number }[];
  counts: readonly (readonly number[])[];
  count_max: number;
}

/** How many of `products` have each pair of values of two facets. */
export function crossTable(
  catalogue: Catalogue,
  products: readonly Product[],
  rowKey: FacetKey,
  columnKey: FacetKey,
): CrossTable {
  const rows = namesOf(catalogue, rowKey);
  const columns = namesOf(catalogue, columnKey);
  const rowAt = new Map(rows.map((row, at) => [row.slug, at]));
  const columnAt = new Map(columns.map((column, at) => [column.slug, at]));
  const counts = rows.map(() => columns.map(() => 0));
  for (const product of products) {
    for (const rowValue of valuesOf(product, rowKey)) {
      const line = counts[rowAt.get(rowValue) ?? -1];
      for (const columnValue of valuesOf(product, columnKey)) {
        const at = columnAt.get(columnValue);
        if (line !== undefined && at !== undefined) line[at] = (line[at] ?? 0) + 1;
      }
    }
  }
  return {
    rows: rows.map((row, at) => ({ ...row, total: (counts[at] ?? []).reduce((a, b) => a + b, 0) })),
    columns: columns.map((column, at) => ({
      ...column,
      total: counts.reduce((sum, line) => sum + (line[at] ?? 0), 0),
    })),
    counts,
    count_max: Math.max(1, ...counts.flat()),
  };
}
