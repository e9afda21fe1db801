// An app whose globals are put back between two requests by a hook, fast or slow.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allReady, ask, ownApp, pidOf, running, sent } from './scenario.ts';

for (const [resetMs, workers] of [
  [0, 1],
  [40, 1],
  [40, 2],
] as const) {
  void test(`I1: no request meets another's state if a reset takes ${resetMs} ms, with ${workers} workers`, async (t) => {
    const sluice = await running(t, {
      entry: ownApp('resetting.js'),
      workers,
      env: { RESET_MS: String(resetMs) },
    });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => ask(sluice, `/${at}`)));
    for (const { status, body } of answers) assert.deepEqual([status, body.toString()], [200, 'nobody']);
    const status = await sluice.status();
    assert.equal(status.overlaps_total, 0);
    for (const worker of status.workers) assert.equal(worker.restarts_total, 0);
  });
}

void test('a worker whose reset after a broken answer takes long is waited for, not replaced', async (t) => {
  const sluice = await running(t, { entry: ownApp('resetting.js'), workers: 1, env: { RESET_MS: '3000' } });
  const before = (await allReady(sluice, 1)).workers.map(pidOf);
  const client = await sent(sluice, '/broken');
  assert.match((await client.untilClosed()).toString(), /half$/);
  client.close();
  const answer = await ask(sluice, '/after');
  assert.deepEqual([answer.status, answer.body.toString()], [200, 'nobody']);
  const { workers, overlaps_total } = await sluice.status();
  assert.deepEqual([workers.map(pidOf), overlaps_total], [before, 0]);
});
