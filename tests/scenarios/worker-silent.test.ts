// A worker that does not answer in time: its client gets 504, and its slot stays its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, assertRefused, Hold, recordOf, running, slotsHeld, statusWhen } from './scenario.ts';

void test('I1: a timeout answers the client and frees no slot', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_RESPONSE_WORKER_TIMEOUT_MS: '300' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  assertRefused(await ask(sluice, '/hold/first'), 504, 'SLU-WORKER-TIMEOUT');
  const next = ask(sluice, '/next');
  const waiting = await statusWhen(sluice, ({ queue }) => queue.length === 1, 'a queued request');
  assert.equal(slotsHeld(waiting), 1);
  assert.deepEqual(hold.journal, ['begin /hold/first']);
  hold.release('first');
  assert.equal((await next).status, 200);
  assert.deepEqual(hold.journal, ['begin /hold/first', 'end /hold/first', 'begin /next', 'end /next']);
  assert.equal((await recordOf(sluice, '/hold/first'))['outcome'], 'timed_out');
  assert.equal((await sluice.status()).workers[0]?.restarts_total, 0);
});

void test('a worker that never ends an abandoned request is replaced in the end', async (t) => {
  const hold = new Hold(t);
  const env = {
    ...hold.env,
    SLUICE_RESPONSE_WORKER_TIMEOUT_MS: '200',
    SLUICE_WORKERS_STOP_TIMEOUT_MS: '500',
    SLUICE_QUEUE_WAIT_MS_MAX: '20000',
  };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  assertRefused(await ask(sluice, '/hold/never'), 504, 'SLU-WORKER-TIMEOUT');
  // Never released: only another process may take the next, however long this one is waited for.
  assert.equal((await ask(sluice, '/next', { deadlineMs: 20_000 })).status, 200);
  assert.deepEqual(hold.journal, ['begin /hold/never', 'begin /next', 'end /next']);
  assert.notEqual(hold.pidOf('/next'), hold.pidOf('/hold/never'));
  assert.equal((await sluice.status()).workers[0]?.restarts_total, 1);
});
