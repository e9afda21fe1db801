/**
 * Stands in for the back ends that a shop asks while a page is under way. Each answer arrives after a wait without
 * CPU work, so that a page can be seen to stream; `wait_scale` 0 answers at once.
 */

import { setTimeout } from 'node:timers/promises';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Product } from '../catalogue/types.js';
import type { CartLine } from './cart.js';
import { sorted } from './filters.js';
import type { Recommend } from './recommend.js';

export interface Services {
  becauseOfCart(lines: readonly CartLine[]): Promise<readonly Product[]>;
  popularThisWeek(): Promise<readonly Product[]>;
  nearlyGone(): Promise<readonly Product[]>;
}

const wait_ms = { cart: 15, popular: 30, nearlyGone: 45 };
const shown = 8;

export function createServices(catalogue: Catalogue, recommend: Recommend, wait_scale: number): Services {
  return {
    async becauseOfCart(lines) {
      await setTimeout(wait_ms.cart * wait_scale);
      const first = lines[0]?.product ?? catalogue.products[0];
      return first === undefined ? [] : recommend(first, shown);
    },
    async popularThisWeek() {
      await setTimeout(wait_ms.popular * wait_scale);
      return sorted(catalogue.products, 'popular').slice(0, shown);
    },
    async nearlyGone() {
      await setTimeout(wait_ms.nearlyGone * wait_scale);
      return [...catalogue.products]
        .filter((product) => product.stock > 0)
        .sort((a, b) => a.stock - b.stock || a.id - b.id)
        .slice(0, shown);
    },
  };
}
