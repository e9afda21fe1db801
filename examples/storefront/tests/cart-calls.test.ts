/** Changes of the cart in the browser, some of which the shop does not take. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Model } from '@sluice/graph';
import type { Envelope } from '@sluice/graph';
import { RouteError } from '@sluice/graph/router';
import { setQuantity } from '../src/graph/cart-calls.js';

const QUANTITY = ['cart', 'lines', 'a', 'quantity'];

interface Asked {
  readonly answer: (envelope: Envelope) => void;
  readonly refuse: (error: Error) => void;
}

/** Model of a cart with two of `a`, and a server that answers when it is told to. */
class Cart {
  readonly model: Model;
  readonly #asked: Asked[] = [];

  constructor() {
    const call = async (): Promise<Envelope> =>
      new Promise((answer, refuse) => {
        this.#asked.push({ answer, refuse });
      });
    this.model = new Model({
      cache: { cart: { lines: { a: { quantity: 2 } } } },
      source: { get: async () => Promise.reject(new Error('nothing is asked for')), call },
    });
  }

  async shown(): Promise<number | undefined> {
    return this.model.withoutDataSource().getValue<number>(QUANTITY);
  }

  async give(quantity: number): Promise<void> {
    const { answer } = await this.#next();
    answer({ jsonGraph: { cart: { lines: { a: { quantity } } } }, paths: [QUANTITY] });
  }

  async refuse(): Promise<void> {
    const { refuse } = await this.#next();
    refuse(new RouteError('There are not so many.', { statusCode: 409 }));
  }

  async #next(): Promise<Asked> {
    for (;;) {
      const next = this.#asked.shift();
      if (next !== undefined) return next;
      await turn();
    }
  }
}

const refused = /not so many/;

test('two_changes_that_are_refused_leave_what_the_server_gave', async () => {
  const cart = new Cart();
  const first = assert.rejects(setQuantity(cart.model, 'a', 5), refused);
  await turn();
  const second = assert.rejects(setQuantity(cart.model, 'a', 7), refused);
  await turn();
  assert.equal(await cart.shown(), 7);
  await cart.refuse();
  await cart.refuse();
  await Promise.all([first, second]);
  assert.equal(await cart.shown(), 2);
});

test('a_refused_change_shows_no_old_quantity_while_a_later_one_is_under_way', async () => {
  const cart = new Cart();
  const first = assert.rejects(setQuantity(cart.model, 'a', 5), refused);
  const second = setQuantity(cart.model, 'a', 7);
  await cart.refuse();
  await first;
  assert.equal(await cart.shown(), 7);
  await cart.give(7);
  await second;
  assert.equal(await cart.shown(), 7);
});

test('what_the_server_took_in_between_counts', async () => {
  const cart = new Cart();
  const taken = setQuantity(cart.model, 'a', 5);
  await turn();
  const later = [7, 8].map(async (quantity) =>
    assert.rejects(setQuantity(cart.model, 'a', quantity), refused),
  );
  await turn();
  await cart.give(5);
  await taken;
  assert.equal(await cart.shown(), 8);
  await cart.refuse();
  await cart.refuse();
  await Promise.all(later);
  assert.equal(await cart.shown(), 5);
  // All of it is over: the next change starts from what is there then.
  await cart.model.withoutDataSource().setValue(QUANTITY, 6);
  const last = assert.rejects(setQuantity(cart.model, 'a', 9), refused);
  await cart.refuse();
  await last;
  assert.equal(await cart.shown(), 6);
});
