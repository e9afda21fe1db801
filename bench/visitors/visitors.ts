// Visitors with a secret each, and who runs at the moment: an app keeps its visitor in an `AsyncLocalStorage` like this one.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';

export interface Person {
  readonly id: number;
  /** Text that no other visitor's page may have. */
  readonly secret: string;
}

const SECRET = /v(\d+)x[0-9a-f]{12}/g;

export function personOf(id: number): Person {
  const code = createHash('sha256').update(`visitor ${id}`).digest('hex').slice(0, 12);
  return { id, secret: `v${id}x${code}` };
}

/** The visitor for whom the code that asks runs. */
export const running = new AsyncLocalStorage<Person>();

/** Secrets in a text: how many are the visitor's own, and those of others. */
export function secretsIn(text: string, own: Person): { own: number; others: string[] } {
  const others: string[] = [];
  let count = 0;
  for (const [secret, id] of text.matchAll(SECRET)) {
    if (Number(id) === own.id) count += 1;
    else others.push(secret);
  }
  return { own: count, others };
}
