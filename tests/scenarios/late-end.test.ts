// Apps that send the last byte of a response and call `end()` much later. The request is theirs until then.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allReady, ask, Hold, running, sent, slotsHeld, statusWhen } from './scenario.ts';

for (const method of ['GET', 'HEAD']) {
  void test(`I1: a free worker serves what came to one that has not ended its ${method} response`, async (t) => {
    const hold = new Hold(t);
    const sluice = await running(t, { entry: hold.app, workers: 2, env: hold.env });
    await allReady(sluice, 2);
    const late = `/hold/${method}?late`;
    assert.equal((await ask(sluice, late, { method })).status, 200);
    // The one that seems free is asked first each time.
    for (const target of ['/a', '/b']) assert.equal((await ask(sluice, target)).status, 200);
    assert.notEqual(hold.pidOf('/a'), hold.pidOf(late));
    assert.ok(!hold.journal.includes(`end ${late}`), 'the first is still not ended');
    await statusWhen(sluice, (now) => slotsHeld(now) === 1, 'the slot of the unended request');
    hold.release(method);
    await statusWhen(sluice, (now) => slotsHeld(now) === 0, 'a free slot');
    assert.equal((await ask(sluice, '/c')).status, 200);
    assert.equal(hold.pidOf('/c'), hold.pidOf(late), 'the worker serves again');
    assert.equal((await sluice.status()).overlaps_total, 0);
  });
}

void test('I1: with one worker, new requests wait in the queue, in order, until the late end', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: 1, env: hold.env });
  assert.equal((await ask(sluice, '/hold/one?late')).body.toString(), 'whole\n');
  const first = await sent(sluice, '/first');
  await statusWhen(sluice, ({ queue }) => queue.length === 1, 'the first in the queue again');
  const second = await sent(sluice, '/second');
  const gone = await sent(sluice, '/gone');
  await statusWhen(sluice, ({ queue }) => queue.length === 3, 'three queued requests');
  gone.close();
  await statusWhen(sluice, ({ queue }) => queue.length === 2, 'the one that left');
  hold.release('one');
  assert.equal((await first.response()).status, 200);
  assert.equal((await second.response()).status, 200);
  assert.deepEqual(
    hold.journal.filter((line) => line.startsWith('begin')),
    ['begin /hold/one?late', 'begin /first', 'begin /second'],
  );
  assert.ok(!hold.journal.some((line) => line.startsWith('overlap')));
});

void test('an upgrade that came to such a worker goes to a free one too', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: 2, env: hold.env });
  await allReady(sluice, 2);
  assert.equal((await ask(sluice, '/hold/up?late')).status, 200);
  // The app takes no upgrades, so Node hands it over as a plain request.
  const upgrade = await sent(sluice, '/upgrade', 'Connection: Upgrade\r\nUpgrade: websocket\r\n');
  assert.equal((await upgrade.response()).status, 200);
  assert.notEqual(hold.pidOf('/upgrade'), hold.pidOf('/hold/up?late'));
  upgrade.close();
  hold.release('up');
  await statusWhen(sluice, (now) => slotsHeld(now) === 0, 'a free slot');
});

void test('a worker that never ends its response is replaced, and nothing that came to it is lost', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_RESPONSE_WORKER_TIMEOUT_MS: '1000' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  assert.equal((await ask(sluice, '/hold/never?late')).status, 200);
  assert.equal((await ask(sluice, '/next')).status, 200);
  assert.notEqual(hold.pidOf('/next'), hold.pidOf('/hold/never?late'));
});

void test('bodies that came with a request given back arrive whole at the other worker', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: 2, env: hold.env });
  await allReady(sluice, 2);
  assert.equal((await ask(sluice, '/hold/body?late')).status, 200);
  for (const size of [10, 100_000, 600_000]) {
    const body = 'x'.repeat(size);
    const answer = await ask(sluice, `/count/${size}`, { method: 'POST', body });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('x-body-bytes'), String(size));
  }
  hold.release('body');
  await statusWhen(sluice, (now) => slotsHeld(now) === 0, 'a free slot');
});

void test('I1: with several slots, a late end occupies only its own slot and delays no other request', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, HOLD_MAX: '3' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env, flags: ['--concurrency', '3'] });
  assert.equal((await ask(sluice, '/hold/one?late')).status, 200);
  assert.equal((await ask(sluice, '/hold/two?late')).status, 200);
  for (const target of ['/a', '/b']) assert.equal((await ask(sluice, target)).status, 200);
  await statusWhen(sluice, (now) => slotsHeld(now) === 2, 'two slots of unended requests');
  for (const name of ['one', 'two']) hold.release(name);
  await statusWhen(sluice, (now) => slotsHeld(now) === 0, 'free slots');
  assert.ok(!hold.journal.some((line) => line.startsWith('overlap')), hold.journal.join('\n'));
});

void test('I3: beside a long response, many late ends lose no request', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, HOLD_MAX: '2' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env, flags: ['--concurrency', '2'] });
  const long = await sent(sluice, '/hold/long');
  await hold.began('/hold/long');
  for (let index = 0; index < 40; index++) {
    assert.equal((await ask(sluice, `/soon/${index}?late`, { deadlineMs: 5_000 })).status, 200);
  }
  hold.release('long');
  assert.equal((await long.response()).status, 200);
  await statusWhen(sluice, (now) => slotsHeld(now) === 0, 'free slots');
});

void test('a request that finds every worker late waits and is served', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, HOLD_MAX: '30' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env, flags: ['--concurrency', '30'] });
  const late = await Promise.all(
    Array.from({ length: 30 }, (_, index) => ask(sluice, `/hold/${index}?late`)),
  );
  assert.ok(late.every(({ status }) => status === 200));
  const waiting = await sent(sluice, '/waiting');
  await statusWhen(sluice, (now) => now.queue.length === 1, 'the request in the queue');
  hold.release('7');
  assert.equal((await waiting.response()).status, 200);
  for (let index = 0; index < 30; index++) hold.release(String(index));
  await statusWhen(sluice, (now) => slotsHeld(now) === 0, 'free slots');
});
