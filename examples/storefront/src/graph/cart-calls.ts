/** Changes of the cart in the browser. Each rejects with an Error whose message is for the visitor. */

import type { Model } from '@sluice/graph';
import { RouteError } from '@sluice/graph/router';

/** Latest change. The next one waits for it: the cart is in a cookie, which each answer replaces. */
let latest: Promise<unknown> = Promise.resolve();

export function addToCart(model: Model, sku: string, quantity: number): Promise<void> {
  return inTurn(() => model.call(['cart', 'add'], [sku, quantity]));
}

/** Shows the quantity at once. The line has its old quantity again where the shop did not take the new one. */
export async function setQuantity(model: Model, sku: string, quantity: number): Promise<void> {
  const path = ['cart', 'lines', sku, 'quantity'];
  const shown = model.withoutDataSource();
  const before = await shown.getValue<number>(path);
  await shown.setValue(path, quantity);
  try {
    await inTurn(() => model.call(['cart', 'set'], [sku, quantity]));
  } catch (error) {
    // A later change may have shown another quantity since.
    if (before !== undefined && (await shown.getValue(path)) === quantity) await shown.setValue(path, before);
    throw error;
  }
}

async function inTurn(change: () => Promise<unknown>): Promise<void> {
  const own = latest.then(change);
  latest = own.catch(() => undefined);
  try {
    await own;
  } catch (error) {
    if (error instanceof RouteError && error.statusCode < 500) throw error;
    throw new Error('The shop cannot be reached just now. Please try again.', { cause: error });
  }
}
