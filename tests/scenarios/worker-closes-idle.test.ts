// Workers that close their connections after or between requests: no request of a client is lost by it.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { test } from 'node:test';
import { app } from '../support/sluice.ts';
import { ask, ownApp, running, STRICT } from './scenario.ts';

void test('I3: no request is lost if a worker closes idle connections immediately', async (t) => {
  const sluice = await running(t, { entry: app('faulty.js'), workers: 2, env: { KEEP_ALIVE_MS: '1' } });
  for (let round = 0; round < 40; round++) {
    const method = round % 2 === 0 ? 'GET' : 'POST';
    const answers = await Promise.all(
      [1, 2, 3].map(() => ask(sluice, '/', { method, body: method === 'POST' ? 'x' : '' })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    // Around the moment at which such a worker would close.
    await wait(round % 5);
  }
});

void test('no request is lost to an app that answers with Connection: close', async (t) => {
  const sluice = await running(t, { entry: ownApp('unusual.js'), workers: 1 });
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      ask(sluice, '/close', { method: index % 2 === 0 ? 'GET' : 'POST' }),
    ),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.ok(
    answers.every(({ headers }) => headers.get('connection') !== 'close'),
    "the client's own connection stays",
  );
});

void test('I3: no request is lost if the app closes an idle connection during the next request', async (t) => {
  const sluice = await running(t, { entry: ownApp('unusual.js'), workers: 1, flags: STRICT });
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      ask(sluice, '/close-idle', { method: index % 2 === 0 ? 'GET' : 'POST' }),
    ),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
});

void test('a connection that the app refuses costs its request an error, and the worker nothing', async (t) => {
  const sluice = await running(t, { entry: ownApp('unusual.js'), workers: 1, flags: STRICT });
  assert.equal((await ask(sluice, '/refuse-connections')).status, 200);
  assert.equal((await ask(sluice, '/')).status, 502);
  const began_ms = performance.now();
  assert.equal((await ask(sluice, '/')).status, 200);
  assert.ok(performance.now() - began_ms < 3_000, 'the slot was not waited for');
  assert.equal((await sluice.status()).workers[0]?.restarts_total, 0);
});
