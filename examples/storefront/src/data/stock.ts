/**
 * How many there are of each choice. The numbers lie in the database, and in the goods themselves, where pages read them: `refresh` brings
 * the goods of this process up to date with what all processes have sold. It must not know requests.
 */

import type { Catalogue } from '../catalogue/catalogue.js';
import type { Product } from '../catalogue/types.js';
import { writing } from './database.js';
import type { Shop } from './database.js';

export interface Stock {
  /** Reads what other processes have sold since the last call. Takes microseconds where nothing has changed. */
  refresh(): void;
  /** Goods that this process has read as changed, since it started. */
  version(): number;
}

interface Row {
  sku: string;
  amount: number;
  change: number;
}

/** Goods that the database does not know yet get the number that they were made with. */
export function openStock(database: Shop, catalogue: Catalogue): Stock {
  seed(database, catalogue);
  const dataVersion = database.prepare('PRAGMA data_version');
  const changed = database.prepare<[number]>('SELECT sku, amount, change FROM stock WHERE change > ?');
  const ownChanges = database.prepare('SELECT total_changes() AS count');
  // All of it at first: earlier runs may have sold something.
  let seen = -1;
  let reads = 0;
  let marker = '';

  const read = (): void => {
    const products = new Set<Product>();
    for (const { sku, amount, change } of changed.all(seen) as Row[]) {
      seen = Math.max(seen, change);
      const found = catalogue.variant(sku);
      if (found === undefined || found.variant.stock === amount) continue;
      found.variant.stock = amount;
      products.add(found.product);
    }
    for (const product of products) count(product);
    if (products.size > 0) reads += 1;
  };

  return {
    refresh() {
      // The first number grows with commits of other connections, the second with those of this one.
      const { data_version } = dataVersion.get() as { data_version: number };
      const { count: own } = ownChanges.get() as { count: number };
      const now = `${data_version}.${own}`;
      if (now === marker) return;
      marker = now;
      read();
    },
    version: () => reads,
  };
}

function seed(database: Shop, { products }: Catalogue): void {
  const variants = products.flatMap((product) => product.variants);
  const { known } = database.prepare('SELECT count(*) AS known FROM stock').get() as { known: number };
  if (known >= variants.length) return;
  writing(database, () => {
    const insert = database.prepare('INSERT OR IGNORE INTO stock (sku, amount) VALUES (?, ?)');
    for (const { sku, stock } of variants) insert.run(sku, stock);
  });
}

/** Sums a product's choices up, where its page tells the number too. */
function count(product: Product): void {
  product.stock = product.variants.reduce((sum, variant) => sum + variant.stock, 0);
  const spec = product.specs.find(({ name }) => name === 'In stock');
  if (spec === undefined) return;
  spec.value = product.stock;
  spec.text = String(product.stock);
}
