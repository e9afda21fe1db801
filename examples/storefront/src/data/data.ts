/** All that the shop keeps, behind one door: opened once at the start of each process. */

import type { Catalogue } from '../catalogue/catalogue.js';
import { openCustomers } from './customers.js';
import type { Customers } from './customers.js';
import { openDatabase, secretOf } from './database.js';
import { openOrders } from './orders.js';
import type { Orders } from './orders.js';
import { openStock } from './stock.js';
import type { Stock } from './stock.js';

export interface Data {
  stock: Stock;
  orders: Orders;
  customers: Customers;
  /** Signs cookies. Made with the database, so that no two shops have the same. */
  secret: string;
  close(): void;
}

/** `folder`: where the database lies, or `:memory:`. Throws an Error that names the folder. */
export function openData(folder: string, catalogue: Catalogue): Data {
  const database = openDatabase(folder);
  return {
    stock: openStock(database, catalogue),
    orders: openOrders(database),
    customers: openCustomers(database),
    secret: secretOf(database),
    close() {
      database.close();
    },
  };
}
