// More than the workers can do: refused at once and honestly, with everything bounded.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app } from '../support/sluice.ts';
import {
  LEARNED_AFTER,
  ask,
  assertRefused,
  Hold,
  recordOf,
  running,
  sent,
  slotsHeld,
  statusWhen,
  STRICT,
} from './scenario.ts';

void test('a full queue refuses with 503, Retry-After and a code, and forgets nobody it took', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_QUEUE_LENGTH_MAX: '5' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  const taken = [await sent(sluice, '/hold/first')];
  await hold.began('/hold/first');
  for (let index = 0; index < 5; index++) taken.push(await sent(sluice, `/queued/${index}`));
  await statusWhen(sluice, ({ queue }) => queue.length === 5, 'a full queue');
  for (const response of await Promise.all([1, 2, 3].map((index) => ask(sluice, `/refused/${index}`)))) {
    assertRefused(response, 503, 'SLU-QUEUE-FULL');
    assert.notEqual(response.headers.get('connection'), 'close', 'nothing is wrong with the connection');
  }
  hold.release('first');
  for (const connection of taken) assert.equal((await connection.response()).status, 200);
  // First in, first out.
  const begun = hold.journal
    .filter((line) => line.startsWith('begin'))
    .map((line) => line.slice('begin '.length));
  assert.deepEqual(begun, ['/hold/first', ...Array.from({ length: 5 }, (_, index) => `/queued/${index}`)]);
  const record = await recordOf(sluice, '/refused/1');
  assert.deepEqual([record['outcome'], record['error'], record['worker']], ['shed', 'SLU-QUEUE-FULL', null]);
});

void test('refusals at once do not lower the percentiles of queue wait', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_QUEUE_LENGTH_MAX: '1' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  const first = await sent(sluice, '/hold/first');
  await hold.began('/hold/first');
  const second = await sent(sluice, '/queued');
  await statusWhen(sluice, ({ queue }) => queue.oldest_wait_ms > 500, 'a request that has waited');
  for (let index = 0; index < 50; index++) assertRefused(await ask(sluice, '/x'), 503, 'SLU-QUEUE-FULL');
  hold.release('first');
  for (const connection of [first, second]) assert.equal((await connection.response()).status, 200);
  const { queue_wait_ms, unserved_ms } = await statusWhen(
    sluice,
    (snapshot) => snapshot.requests.answered_total === 2,
    'both answers in the log',
  );
  assert.ok(queue_wait_ms.p95 !== null && queue_wait_ms.p95 > 450, `p95 is ${queue_wait_ms.p95} ms`);
  assert.ok(unserved_ms.p50 !== null && unserved_ms.p50 < 450, `refused after ${unserved_ms.p50} ms`);
  const page = await (await fetch(`${sluice.admin}/metrics`)).text();
  assert.match(page, /^sluice_queue_wait_seconds_count 2$/m);
  assert.match(page, /^sluice_queue_unserved_seconds_count 50$/m);
  const refused = await recordOf(sluice, '/x');
  assert.deepEqual([refused['queue_ms'], typeof refused['unserved_ms']], [null, 'number']);
  assert.match((await sluice.cli(['status'])).stdout, /^last minute +queue wait +service time +not served$/m);
});

void test('a request that has waited for too long is refused and never reaches a worker', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_QUEUE_WAIT_MS_MAX: '300' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  const first = await sent(sluice, '/hold/first');
  await hold.began('/hold/first');
  assertRefused(await ask(sluice, '/late'), 503, 'SLU-QUEUE-DEADLINE');
  hold.release('first');
  assert.equal((await first.response()).status, 200);
  assert.equal((await ask(sluice, '/later')).status, 200);
  assert.ok(!hold.journal.includes('begin /late'));
  assert.equal((await recordOf(sluice, '/late'))['outcome'], 'timed_out');
});

void test('a wait that is foreseen to be too long is refused at once', async (t) => {
  const env = { SLUICE_QUEUE_WAIT_MS_MAX: '400' };
  const sluice = await running(t, { entry: app('spin.js'), workers: 1, env, flags: STRICT });
  // The gateway learns what a request costs.
  for (let round = 0; round < LEARNED_AFTER; round++) await ask(sluice, '/sleep?ms=100');
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(sluice, '/sleep?ms=100')));
  const refused = answers.filter(({ status }) => status === 503);
  assert.ok(refused.length >= 10, `${refused.length} of 20 are refused`);
  assert.ok(answers.filter(({ status }) => status === 200).length >= 3, 'what fits is served');
  assertRefused(refused[0] ?? assert.fail(), 503, 'SLU-QUEUE-WAIT');
});

void test('I6: twice the capacity of the workers is partly shed, otherwise answered completely, and stays within bounds', async (t) => {
  const env = { SLUICE_QUEUE_LENGTH_MAX: '10' };
  const sluice = await running(t, { entry: app('spin.js'), workers: 1, env });
  const counts = new Map<number, number>();
  let queue_max = 0;
  await Promise.all(
    Array.from({ length: 40 }, async () => {
      for (let round = 0; round < 15; round++) {
        const { status } = await ask(sluice, '/spin?ms=3');
        counts.set(status, (counts.get(status) ?? 0) + 1);
        if (round === 7) queue_max = Math.max(queue_max, (await sluice.status()).queue.length);
      }
    }),
  );
  assert.deepEqual(new Set(counts.keys()), new Set([200, 503]), JSON.stringify([...counts]));
  assert.equal((counts.get(200) ?? 0) + (counts.get(503) ?? 0), 600);
  assert.ok((counts.get(200) ?? 0) > 50, 'the workers went on working');
  assert.ok(queue_max <= 10);
  const after = await statusWhen(
    sluice,
    (now) => slotsHeld(now) === 0 && now.connections === 0,
    'an idle gateway',
  );
  assert.deepEqual([after.queue.length, after.overlaps_total, after.requests.in_service], [0, 0, 0]);
});
