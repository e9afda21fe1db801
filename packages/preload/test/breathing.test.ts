/** Who waits for a main thread that is in a loop; with a file in place of the gateway's. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { hostKey } from '../../breathe/src/host.js';
import { Breathing, breathingKey } from '../src/requests/breathing.js';
import type { ToGateway } from '../src/control/messages.js';

interface World {
  readonly breathing: Breathing;
  readonly said: string[];
  readonly requests: { inside: number };
  readonly give: (count: number) => void;
}

function world(t: TestContext): World {
  const folder = mkdtempSync(join(tmpdir(), 'slu-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const said: string[] = [];
  const control = { send: ({ type }: ToGateway) => ((said[said.length] = type), true) };
  const requests = { inside: 1 };
  const breathing = new Breathing(control, requests, { offload: () => () => {} }, join(folder, '7.sock'));
  const give = (count: number): void => writeFileSync(join(folder, '7.sock.given'), Buffer.of(count));
  return { breathing, said, requests, give };
}

void test('nobody waits beside a single request, and the gateway is told of the loop once in a while', (t) => {
  const { breathing, said } = world(t);
  for (let look = 0; look < 3; look += 1) assert.equal(breathing.somebodyWaits(), false);
  assert.deepEqual(said, ['breathes']);
});

void test('requests that share the worker wait for one another', (t) => {
  const { breathing, requests } = world(t);
  requests.inside = 2;
  assert.equal(breathing.somebodyWaits(), true);
  assert.equal(breathing.somebodyWaits(), true);
  requests.inside = 1;
  assert.equal(breathing.somebodyWaits(), false);
});

void test('a request that the gateway has given waits, and the gateway may give the next', (t) => {
  const { breathing, said, give } = world(t);
  assert.equal(breathing.somebodyWaits(), false);
  give(0);
  assert.equal(breathing.somebodyWaits(), false, 'the count begins at 0');
  for (const count of [1, 2, 5, 255, 0]) {
    said.length = 0;
    give(count);
    assert.equal(breathing.somebodyWaits(), true, `${count}`);
    assert.deepEqual(said, ['breathes']);
    assert.equal(breathing.somebodyWaits(), false, `${count} is let in by now`);
  }
});

void test('preload and package meet at the same symbol', () => {
  assert.equal(breathingKey, hostKey);
});
