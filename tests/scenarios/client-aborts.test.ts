// A client that goes away: while queued it is forgotten, in service it frees nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, Hold, recordOf, running, sent, slotsHeld, statusWhen } from './scenario.ts';

void test('I1: a client that leaves while queued never reaches a worker', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: 1, env: hold.env });
  const holding = await sent(sluice, '/hold/first');
  await hold.began('/hold/first');
  const leavers = [
    await sent(sluice, '/leaves/1'),
    await sent(sluice, '/leaves/2'),
    await sent(sluice, '/leaves/3'),
  ];
  await statusWhen(sluice, ({ queue }) => queue.length === 3, 'three queued requests');
  leavers[0]?.close();
  leavers[1]?.reset();
  leavers[2]?.end();
  await statusWhen(sluice, ({ queue }) => queue.length === 0, 'an empty queue');
  const stays = ask(sluice, '/stays');
  await statusWhen(sluice, ({ queue }) => queue.length === 1, 'one queued request');
  hold.release('first');
  assert.equal((await holding.response()).status, 200);
  assert.equal((await stays).status, 200);
  assert.deepEqual(hold.journal, ['begin /hold/first', 'end /hold/first', 'begin /stays', 'end /stays']);
  const record = await recordOf(sluice, '/leaves/1');
  assert.deepEqual([record['outcome'], record['worker']], ['client_gone_queued', null]);
});

void test('I1: a client that leaves during service frees no slot until the worker has ended the request', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: 1, env: hold.env });
  for (const how of ['close', 'reset'] as const) {
    const leaver = await sent(sluice, `/hold/${how}`);
    await hold.began(`/hold/${how}`);
    leaver[how]();
    // A client that only closed its sending side looks the same as one that has gone, until it is answered.
    if (how === 'reset') await statusWhen(sluice, ({ connections }) => connections === 0, 'no client');
    const next = ask(sluice, `/after-${how}`);
    const waiting = await statusWhen(sluice, ({ queue }) => queue.length === 1, 'a queued request');
    assert.equal(slotsHeld(waiting), 1, 'the slot is held for a client that has gone');
    assert.ok(!hold.journal.includes(`begin /after-${how}`));
    hold.release(how);
    assert.equal((await next).status, 200);
    assert.equal((await recordOf(sluice, `/hold/${how}`))['outcome'], 'client_gone_in_service');
  }
  assert.deepEqual(
    hold.journal.filter((line) => line.startsWith('overlap')),
    [],
  );
  const order = hold.journal.map((line) => line.split(' ')[0]);
  assert.deepEqual(order, ['begin', 'end', 'begin', 'end', 'begin', 'end', 'begin', 'end']);
  assert.equal((await sluice.status()).overlaps_total, 0);
});

void test('I1: hundreds of clients that leave at random times cause no overlap', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: 2, env: hold.env });
  await Promise.all(
    Array.from({ length: 300 }, async (_, index) => {
      const connection = await sent(sluice, `/any/${index}`);
      if (index % 3 === 0) connection.reset();
      else if (index % 3 === 1) connection.close();
      else assert.equal((await connection.response()).status, 200);
      connection.close();
    }),
  );
  await statusWhen(sluice, (now) => now.queue.length === 0 && slotsHeld(now) === 0, 'an idle pool');
  assert.deepEqual(
    hold.journal.filter((line) => line.startsWith('overlap')),
    [],
  );
  assert.equal((await sluice.status()).overlaps_total, 0);
});
