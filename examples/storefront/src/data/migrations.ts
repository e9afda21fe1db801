/**
 * The tables of the shop, as steps that are run once each and in this order. A step that has been released never changes: what comes
 * after is a step of its own.
 */

export const migrations: readonly string[] = [
  // `change` is the number of the order that touched a row last, so that a process reads only what is new to it.
  `
  CREATE TABLE stock (
    sku TEXT PRIMARY KEY,
    amount INTEGER NOT NULL CHECK (amount >= 0),
    change INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX stock_by_change ON stock (change);
  CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  // Times are milliseconds since 1970, money is whole cents.
  `
  CREATE TABLE customer (
    id INTEGER PRIMARY KEY,
    email TEXT NOT NULL UNIQUE COLLATE NOCASE,
    name TEXT NOT NULL,
    password TEXT NOT NULL,
    created_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE session (
    token_hash TEXT PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customer (id) ON DELETE CASCADE,
    expires_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE purchase (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER REFERENCES customer (id),
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    street TEXT NOT NULL,
    postcode TEXT NOT NULL,
    town TEXT NOT NULL,
    total_cents INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX purchase_by_customer ON purchase (customer_id, id);
  CREATE TABLE purchase_line (
    purchase_id INTEGER NOT NULL REFERENCES purchase (id) ON DELETE CASCADE,
    sku TEXT NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    price_cents INTEGER NOT NULL,
    PRIMARY KEY (purchase_id, sku)
  ) STRICT, WITHOUT ROWID;
  `,
];
