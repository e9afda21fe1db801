// An exception that nobody catches ends the worker: its request gets an honest answer, the log has the app's own words, and
// the pool is whole again.
// Part of `make quick`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { allReady, ask, assertRefused, ownApp, recordOf, running } from './scenario.ts';
import { logged, metric } from './stuck.ts';

for (const [target, words] of [
  ['/throw', /Error: thrown in the handler/],
  ['/throw-later', /Error: thrown later/],
  ['/reject', /Error: rejected/],
] as const) {
  void test(`${target}: a POST is 502, and the log says why`, async (t) => {
    const sluice = await running(t, { entry: ownApp('throws.js'), workers: 2 });
    assertRefused(await ask(sluice, target, { method: 'POST' }), 502, 'SLU-WORKER-DIED');
    const record = await recordOf(sluice, target);
    assert.deepEqual([record['tries'], record['outcome']], [1, 'worker_died']);
    const exit = await logged(sluice, 'worker_exited');
    assert.deepEqual([exit['worker'], exit['reason'], exit['expected']], [record['worker'], 'exited', false]);
    assert.match(String(exit['status']), /1/);
    const said = await eventually(
      () => sluice.logs.find(({ event, line }) => event === 'app' && words.test(String(line))),
      { what: "the app's own words" },
    );
    assert.deepEqual([said['worker'], said['stream']], [record['worker'], 'stderr']);
    assert.ok(
      sluice.logs.some(({ line }) => /at .*throws\.js:\d+/.test(String(line))),
      'with the place',
    );
    await allReady(sluice, 2);
    assert.equal(await metric(sluice, 'sluice_worker_exits_total{reason="exited",expected="false"}'), 1);
  });
}

void test('I5: a GET is retried once, and not again', async (t) => {
  const env = bounds({ backoff_ms_min: 1, backoff_ms_max: 10 });
  const sluice = await running(t, { entry: ownApp('throws.js'), workers: 2, env });
  assertRefused(await ask(sluice, '/throw'), 502, 'SLU-WORKER-DIED');
  assert.equal((await recordOf(sluice, '/throw'))['tries'], 2);
  await allReady(sluice, 2);
  assert.equal((await ask(sluice, '/')).status, 200);
});

void test('an exception between two requests costs nobody anything', async (t) => {
  const sluice = await running(t, { entry: ownApp('throws.js'), workers: 1 });
  assert.equal((await ask(sluice, '/throw-after')).status, 200);
  const exit = await logged(sluice, 'worker_exited');
  assert.deepEqual([exit['reason'], exit['expected']], ['exited', false]);
  assert.equal((await ask(sluice, '/', { method: 'POST' })).status, 200);
  await allReady(sluice, 1);
});
