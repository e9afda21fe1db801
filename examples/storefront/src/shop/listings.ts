/** Listings by their address: everything, a category, or what a search found. */

import type { Catalogue } from '../catalogue/catalogue.js';
import type { Product } from '../catalogue/types.js';
import { listed, listingOf } from './facets.js';
import type { Listing } from './facets.js';
import { hrefOf, readFilters } from './filters.js';
import type { FacetKey, Filters } from './filters.js';
import { wordsOf } from './search.js';
import type { SearchIndex } from './search.js';

export interface Found {
  path: string;
  /** Address of its first page. */
  address: string;
  title: string;
  blurb: string;
  filters: Filters;
  /** Products of a page. */
  per_page: number;
  /** Words that were searched for. */
  words: readonly string[];
  /** One page with the numbers beside it. */
  listing(): Listing;
  /** All products, in their order. */
  products(): readonly Product[];
}

export interface Listings {
  /** Undefined where the shop has no listing at this path. */
  at(path: string, query: URLSearchParams): Found | undefined;
}

const perPage = { category: 60, search: 24 };
const markedMax = 6;

export function createListings(catalogue: Catalogue, search: SearchIndex): Listings {
  const found = (
    given: Pick<Found, 'path' | 'title' | 'blurb' | 'filters' | 'per_page' | 'words'>,
    from: () => readonly Product[],
    options: { fixed?: readonly FacetKey[]; ranked?: boolean } = {},
  ): Found => {
    const { filters, per_page } = given;
    let all: readonly Product[] | undefined;
    const products = (): readonly Product[] => (all ??= listed(from(), filters, options));
    return {
      ...given,
      address: hrefOf(given.path, filters),
      listing: () => listingOf(catalogue, from(), products(), filters, { ...options, per_page }),
      products,
    };
  };
  return {
    at(path, query) {
      const filters = readFilters(query, catalogue);
      if (path === '/products') {
        const blurb = 'The whole shop, to be narrowed down by what matters to you.';
        const shown = { path, title: 'Everything', blurb, filters, per_page: filters.show, words: [] };
        return found(shown, () => catalogue.products);
      }
      if (path === '/search') {
        const { text } = filters;
        const [title, blurb] =
          text === ''
            ? ['Search', 'Write into the field above what you are looking for.']
            : [`Results for “${text}”`, 'Best matches first.'];
        const words = wordsOf(text).slice(0, markedMax);
        const shown = { path, title, blurb, filters, per_page: perPage.search, words };
        let results: readonly Product[] | undefined;
        return found(shown, () => (results ??= search.search(text)), { ranked: true });
      }
      const category = path.startsWith('/c/') ? catalogue.category(path.slice(3)) : undefined;
      if (category === undefined) return undefined;
      const { name: title, blurb } = category;
      const within = { ...filters, chosen: { ...filters.chosen, category: [] } };
      const shown = { path, title, blurb, filters: within, per_page: perPage.category, words: [] };
      return found(shown, () => catalogue.inCategory(category), { fixed: ['category'] });
    },
  };
}
