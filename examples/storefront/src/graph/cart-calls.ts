/** Changes of the cart in the browser. Each rejects with an Error whose message is for the visitor. */

import type { Model } from '@sluice/graph';
import { RouteError } from '@sluice/graph/router';

/** Latest change. The next one waits for it: the cart is in a cookie, which each answer replaces. */
let latest: Promise<unknown> = Promise.resolve();

export function addToCart(model: Model, sku: string, quantity: number): Promise<void> {
  return inTurn(() => model.call(['cart', 'add'], [sku, quantity]));
}

/** Line of the cart while changes of its quantity are under way. */
interface Line {
  /** Quantity that the server has, as far as it has answered. */
  given: Promise<number | undefined> | number;
  changes: number;
}

const lines = new Map<string, Line>();

/** Shows the quantity at once. Where the shop takes neither it nor a later one, the line has again what the server took last. */
export async function setQuantity(model: Model, sku: string, quantity: number): Promise<void> {
  const path = ['cart', 'lines', sku, 'quantity'];
  const shown = model.withoutDataSource();
  const line = lines.get(sku) ?? { given: shown.getValue<number>(path), changes: 0 };
  lines.set(sku, line);
  line.changes += 1;
  try {
    await line.given;
    await shown.setValue(path, quantity);
    await inTurn(() => model.call(['cart', 'set'], [sku, quantity]));
    // The model shows a later change, if there is one.
    line.given = quantity;
  } catch (error) {
    const given = await line.given;
    if (line.changes === 1 && given !== undefined) await shown.setValue(path, given);
    throw error;
  } finally {
    line.changes -= 1;
    if (line.changes === 0) lines.delete(sku);
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
