/**
 * What else to show beside a product. Each of the other goods is scored by what it shares with this one. The work
 * is cut into slices with a turn of the event loop between them, so that the page around it is sent first.
 */

import { setImmediate } from 'node:timers/promises';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Product } from '../catalogue/types.js';
import { wordsOf } from './search.js';

export type Recommend = (product: Product, count: number) => Promise<Product[]>;

const slice = 240;

export function createRecommender(catalogue: Catalogue): Recommend {
  const words = new Map(
    catalogue.products.map((product) => [product, new Set(wordsOf(product.description.join(' ')))]),
  );
  return async (product, count) => {
    const scored: { other: Product; score: number }[] = [];
    for (let from = 0; from < catalogue.products.length; from += slice) {
      await setImmediate();
      for (const other of catalogue.products.slice(from, from + slice)) {
        if (other === product) continue;
        const shared = overlap(words.get(product), words.get(other));
        scored.push({ other, score: likeness(product, other) + shared * 3 });
      }
    }
    // At most two of a kind: eight mugs beside a mug help nobody.
    const taken: Product[] = [];
    for (const { other } of scored.sort((a, b) => b.score - a.score || a.other.id - b.other.id)) {
      if (taken.filter((each) => each.kind === other.kind).length >= 2) continue;
      taken.push(other);
      if (taken.length === count) break;
    }
    return taken;
  };
}

function likeness(product: Product, other: Product): number {
  let score = other.rating / 5 + other.sold / 1800;
  if (other.category === product.category) score += 1.5;
  if (other.collection === product.collection) score += 2;
  if (other.maker === product.maker) score += 1;
  if (other.material === product.material) score += 1;
  score += other.colours.filter((colour) => product.colours.includes(colour)).length * 0.3;
  return score - Math.abs(Math.log(other.price_cents / product.price_cents)) * 0.5;
}

function overlap(a: Set<string> | undefined, b: Set<string> | undefined): number {
  if (a === undefined || b === undefined) return 0;
  let shared = 0;
  for (const word of a) if (b.has(word)) shared += 1;
  return shared / (a.size + b.size - shared);
}
