/** Orders: an order takes its goods out of the stock, or nothing happens. It must not know pages or cookies. */

import type { CartLine, CartTotals } from '../shop/cart.js';
import { writing } from './database.js';
import type { Shop } from './database.js';

export interface Order {
  /** As customers see it: `TW-100001`. */
  number: string;
  total_cents: number;
  created_ms: number;
  lines: readonly { sku: string; quantity: number; price_cents: number }[];
}

/** A line that asks for more than there is. */
export interface Shortage {
  line: CartLine;
  left: number;
}

export type Placed = { ok: true; number: string } | { ok: false; short: readonly Shortage[] };

export interface Orders {
  /** `address`: the fields of the checkout. */
  place(totals: CartTotals, address: Readonly<Record<string, string>>, customer: number | null): Placed;
  /** A customer's orders, newest first, at most 50. */
  of(customer: number): readonly Order[];
}

class Short extends Error {
  readonly short: readonly Shortage[];

  constructor(short: readonly Shortage[]) {
    super('There is not enough of everything.');
    this.short = short;
  }
}

const firstNumber = 100_000;
const listedMax = 50;

export function openOrders(database: Shop): Orders {
  const take = database.prepare<[number, string, number]>(
    `UPDATE stock SET amount = amount - ?, change = (SELECT max(change) + 1 FROM stock) WHERE sku = ? AND amount >= ?`,
  );
  const left = database.prepare<[string]>('SELECT amount FROM stock WHERE sku = ?');
  const insert = database.prepare(
    `INSERT INTO purchase (customer_id, name, email, street, postcode, town, total_cents, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertLine = database.prepare(
    'INSERT INTO purchase_line (purchase_id, sku, quantity, price_cents) VALUES (?, ?, ?, ?)',
  );
  const list = database.prepare<[number, number]>(
    'SELECT id, total_cents, created_ms FROM purchase WHERE customer_id = ? ORDER BY id DESC LIMIT ?',
  );
  const lines = database.prepare<[number]>(
    'SELECT sku, quantity, price_cents FROM purchase_line WHERE purchase_id = ? ORDER BY sku',
  );

  return {
    place(totals, address, customer) {
      try {
        const id = writing(database, () => {
          const short: Shortage[] = [];
          for (const line of totals.lines) {
            const { sku } = line.variant;
            if (take.run(line.quantity, sku, line.quantity).changes > 0) continue;
            short.push({ line, left: (left.get(sku) as { amount: number } | undefined)?.amount ?? 0 });
          }
          if (short.length > 0) throw new Short(short);
          const text = (name: string): string => address[name] ?? '';
          const { lastInsertRowid } = insert.run(
            customer,
            text('name'),
            text('email'),
            text('street'),
            text('postcode'),
            text('town'),
            totals.total_cents,
            Date.now(),
          );
          for (const { variant, quantity } of totals.lines)
            insertLine.run(lastInsertRowid, variant.sku, quantity, variant.price_cents);
          return Number(lastInsertRowid);
        });
        return { ok: true, number: numberOf(id) };
      } catch (error) {
        if (error instanceof Short) return { ok: false, short: error.short };
        throw error;
      }
    },
    of(customer) {
      const found = list.all(customer, listedMax) as {
        id: number;
        total_cents: number;
        created_ms: number;
      }[];
      return found.map(({ id, total_cents, created_ms }) => ({
        number: numberOf(id),
        total_cents,
        created_ms,
        lines: lines.all(id) as Order['lines'],
      }));
    },
  };
}

function numberOf(id: number): string {
  return `TW-${firstNumber + id}`;
}
