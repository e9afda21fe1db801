/** Full-text search over the goods: a weighted inverted index with prefixes and one forgiven typing error. */

import type { Catalogue } from '../catalogue/catalogue.js';
import type { Category, Product } from '../catalogue/types.js';

export interface SearchIndex {
  /** Best first; every word of the text has to match somewhere. */
  search(text: string): Product[];
  suggest(text: string, count: number): Suggestions;
}

export interface Suggestions {
  query: string;
  words: readonly string[];
  categories: readonly { name: string; href: string }[];
  products: readonly { name: string; href: string; price_cents: number; hex: string }[];
}

const wordsMax = 6;
const suggestionRowsMax = 400;

export function createSearchIndex(catalogue: Catalogue): SearchIndex {
  const postings = new Map<string, Map<Product, number>>();
  const add = (product: Product, text: string, weight: number): void => {
    for (const word of wordsOf(text)) {
      const found = postings.get(word) ?? new Map<Product, number>();
      found.set(product, Math.max(found.get(product) ?? 0, weight));
      postings.set(word, found);
    }
  };
  for (const product of catalogue.products) {
    add(product, product.name, 8);
    add(product, `${product.kind.plural} ${product.category.name}`, 5);
    add(product, `${product.maker.name} ${product.material.name}`, 4);
    add(product, product.colours.map((colour) => colour.name).join(' '), 3);
    add(product, product.summary, 2);
    add(product, product.description.join(' '), 1);
  }
  const words = [...postings.keys()].sort();

  function matching(word: string): Map<Product, number> {
    const scores = new Map<Product, number>();
    const take = (indexed: string, share: number): void => {
      for (const [product, weight] of postings.get(indexed) ?? []) {
        scores.set(product, Math.max(scores.get(product) ?? 0, weight * share));
      }
    };
    for (const indexed of withPrefix(words, word)) take(indexed, indexed === word ? 1 : 0.6);
    if (scores.size === 0 && word.length > 3) {
      for (const indexed of words) if (oneErrorApart(indexed, word)) take(indexed, 0.4);
    }
    return scores;
  }

  function search(text: string): Product[] {
    const asked = wordsOf(text).slice(0, wordsMax);
    if (asked.length === 0) return [];
    const [first, ...others] = asked.map(matching);
    const scored: { product: Product; score: number }[] = [];
    for (const [product, weight] of first ?? []) {
      let score: number | null = weight;
      for (const other of others) {
        const more: number | undefined = other.get(product);
        score = more === undefined || score === null ? null : score + more;
      }
      if (score !== null) scored.push({ product, score: score + product.rating / 10 + product.sold / 3000 });
    }
    return scored
      .sort((a, b) => b.score - a.score || a.product.id - b.product.id)
      .map((each) => each.product);
  }

  function suggest(text: string, count: number): Suggestions {
    const query = text.trim().slice(0, 80);
    const asked = wordsOf(query);
    const last = asked[asked.length - 1];
    if (last === undefined) return { query, words: [], categories: [], products: [] };
    const ends = withPrefix(words, last)
      .slice(0, suggestionRowsMax)
      .filter((word) => word !== last)
      .sort((a, b) => (postings.get(b)?.size ?? 0) - (postings.get(a)?.size ?? 0) || (a < b ? -1 : 1))
      .slice(0, 3);
    const begun = asked.slice(0, -1);
    const named = (category: Category): boolean =>
      wordsOf(`${category.name} ${category.kinds.map((kind) => kind.plural).join(' ')}`).some((word) =>
        word.startsWith(last),
      );
    return {
      query,
      words: ends.map((word) => [...begun, word].join(' ')),
      categories: catalogue.categories
        .filter(named)
        .slice(0, 2)
        .map((category) => ({ name: category.name, href: `/c/${category.slug}` })),
      products: search(query)
        .slice(0, count)
        .map((product) => ({
          name: product.name,
          href: `/p/${product.slug}`,
          price_cents: product.price_cents,
          hex: product.colours[0]?.hex ?? '#888888',
        })),
    };
  }

  return { search, suggest };
}

export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

/** All members of a sorted list that begin with `prefix`. */
function withPrefix(sortedWords: readonly string[], prefix: string): string[] {
  let low = 0;
  let high = sortedWords.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sortedWords[middle] ?? '') < prefix) low = middle + 1;
    else high = middle;
  }
  const found: string[] = [];
  for (let at = low; sortedWords[at]?.startsWith(prefix) === true; at += 1) found.push(sortedWords[at] ?? '');
  return found;
}

/** Whether one letter added, dropped or changed makes `a` into `b`. */
function oneErrorApart(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  const restA = a.slice(a.length >= b.length ? at + 1 : at);
  const restB = b.slice(b.length >= a.length ? at + 1 : at);
  return restA === restB;
}
