// What handlers throw: told to the app, not to the client, and with nothing in it that is the visitor's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { createServer } from '../../src/http/handler.js';
import { listen } from '../support/server.js';

const failing = async (): Promise<never> => {
  throw new Error('It threw');
};

test('the default log of an error has neither cookies nor the query', async (t) => {
  const log = t.mock.method(console, 'error', () => {});
  const origin = await listen(t, createServer(failing));
  const headers = { cookie: 'session=s3cret', authorization: 'Bearer s3cret' };
  const response = await fetch(`${origin}/cart?token=s3cret`, { headers });
  assert.equal(response.status, 500);
  assert.doesNotMatch(await response.text(), /It threw/);
  const said = log.mock.calls.map(({ arguments: all }) => inspect(all, { depth: 9 })).join('\n');
  assert.match(said, /GET \/cart:/);
  assert.match(said, /It threw/);
  assert.doesNotMatch(said, /s3cret/);
});

test('an onError that throws leaves the client with an answer', async (t) => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  t.after(() => process.off('unhandledRejection', note));
  t.mock.method(console, 'error', () => {});
  const onError = (): never => {
    throw new Error('The log is full');
  };
  const origin = await listen(t, createServer(failing, { onError }));
  const response = await fetch(origin, { signal: AbortSignal.timeout(5_000) });
  assert.equal(response.status, 500);
  assert.deepEqual(unhandled, []);
});
