/**
 * Customers and who is signed in. Passwords are kept as scrypt hashes, session tokens as SHA-256, so that a copy of the database opens no
 * account. It must not know pages or cookies.
 */

import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import type { Shop } from './database.js';

export interface Customer {
  id: number;
  name: string;
  email: string;
}

export interface Customers {
  /** `null` where the address has an account already. */
  register(name: string, email: string, password: string): Promise<Customer | null>;
  /** `null` where address or password are wrong; it takes as long for both. */
  check(email: string, password: string): Promise<Customer | null>;
  /** Begins a session. The token is for the customer's browser alone. */
  begin(customer: Customer): string;
  signedIn(token: string | undefined): Customer | null;
  end(token: string | undefined): void;
}

export const session_ms = 30 * 86_400_000;
export const password = { length_min: 10, length_max: 200 } as const;

const salt_bytes = 16;
const key_bytes = 32;
// OWASP's figures for scrypt: 2^15 blocks of 8, three times.
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 } as const;

export function openCustomers(database: Shop): Customers {
  const insert = database.prepare(
    'INSERT OR IGNORE INTO customer (email, name, password, created_ms) VALUES (?, ?, ?, ?)',
  );
  const byEmail = database.prepare<[string]>(
    'SELECT id, name, email, password FROM customer WHERE email = ?',
  );
  const begin = database.prepare(
    'INSERT INTO session (token_hash, customer_id, expires_ms) VALUES (?, ?, ?)',
  );
  const sweep = database.prepare<[number]>('DELETE FROM session WHERE expires_ms < ?');
  const find = database.prepare<[string, number]>(
    `SELECT customer.id, customer.name, customer.email FROM session JOIN customer ON customer.id = session.customer_id
     WHERE token_hash = ? AND expires_ms >= ?`,
  );
  const end = database.prepare<[string]>('DELETE FROM session WHERE token_hash = ?');

  return {
    async register(name, email, given) {
      const salt = randomBytes(salt_bytes);
      const key = await derive(given, salt);
      const { changes, lastInsertRowid } = insert.run(
        email,
        name,
        `${salt.toString('base64url')}.${key.toString('base64url')}`,
        Date.now(),
      );
      return changes === 0 ? null : { id: Number(lastInsertRowid), name, email };
    },
    async check(email, given) {
      const found = byEmail.get(email) as (Customer & { password: string }) | undefined;
      const [salt = '', key = ''] = (found?.password ?? '').split('.');
      const expected = found === undefined ? randomBytes(key_bytes) : Buffer.from(key, 'base64url');
      const actual = await derive(given, Buffer.from(salt, 'base64url'));
      if (found === undefined || !timingSafeEqual(actual, expected)) return null;
      return { id: found.id, name: found.name, email: found.email };
    },
    begin(customer) {
      const token = randomBytes(32).toString('base64url');
      sweep.run(Date.now());
      begin.run(hashOf(token), customer.id, Date.now() + session_ms);
      return token;
    },
    signedIn(token) {
      if (token === undefined) return null;
      return (find.get(hashOf(token), Date.now()) as Customer | undefined) ?? null;
    },
    end(token) {
      if (token !== undefined) end.run(hashOf(token));
    },
  };
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function derive(given: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(given.normalize('NFKC'), salt, key_bytes, cost, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}
