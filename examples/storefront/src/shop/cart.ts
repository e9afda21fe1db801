/** A cart as text (`sku:quantity` joined by commas), as lines with prices, and the changes a visitor can make. */

import type { Catalogue } from '../catalogue/catalogue.js';
import type { Product, Variant } from '../catalogue/types.js';

/** Quantity by SKU, in the order in which things were added. */
export type Cart = ReadonlyMap<string, number>;

export interface CartLine {
  product: Product;
  variant: Variant;
  quantity: number;
  total_cents: number;
}

export interface CartTotals {
  lines: readonly CartLine[];
  count: number;
  goods_cents: number;
  delivery_cents: number;
  total_cents: number;
}

// A cookie may be 4096 bytes: 60 lines of the longest SKU stay below that after encoding.
export const cartLinesMax = 60;
export const quantityMax = 20;
export const freeDeliveryFromCents = 12_000;
const deliveryCents = 690;

export function parseCart(text: string | null, catalogue: Catalogue): Cart {
  const cart = new Map<string, number>();
  for (const entry of (text ?? '').split(',')) {
    const [sku = '', count = ''] = entry.split(':');
    const quantity = Number.parseInt(count, 10);
    if (quantity >= 1 && quantity <= quantityMax && catalogue.variant(sku) !== undefined)
      cart.set(sku, quantity);
    if (cart.size === cartLinesMax) break;
  }
  return cart;
}

export function formatCart(cart: Cart): string {
  return [...cart].map(([sku, quantity]) => `${sku}:${quantity}`).join(',');
}

/** The cart with so many of a SKU; none or fewer takes it out. A new line in a full cart changes nothing. */
export function withQuantity(cart: Cart, sku: string, quantity: number): Cart {
  const next = new Map(cart);
  if (quantity <= 0) next.delete(sku);
  else if (next.has(sku) || next.size < cartLinesMax) next.set(sku, Math.min(quantity, quantityMax));
  return next;
}

export function totalsOf(cart: Cart, catalogue: Catalogue): CartTotals {
  const lines: CartLine[] = [];
  for (const [sku, quantity] of cart) {
    const found = catalogue.variant(sku);
    if (found !== undefined)
      lines.push({ ...found, quantity, total_cents: found.variant.price_cents * quantity });
  }
  const goods_cents = lines.reduce((sum, line) => sum + line.total_cents, 0);
  const delivery_cents = goods_cents === 0 || goods_cents >= freeDeliveryFromCents ? 0 : deliveryCents;
  return {
    lines,
    count: countOf(cart),
    goods_cents,
    delivery_cents,
    total_cents: goods_cents + delivery_cents,
  };
}

export function countOf(cart: Cart): number {
  let count = 0;
  for (const quantity of cart.values()) count += quantity;
  return count;
}
