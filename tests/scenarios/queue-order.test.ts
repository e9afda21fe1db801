// The queue is in the order in which requests were whole, and nobody waits in it longer than was promised.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { ask, assertRefused, bytesOf, Hold, running, sent, statusWhen } from './scenario.ts';

const upload = bytesOf('/upload', 'Content-Length: 4\r\n', 'POST');

void test('a request whose body came late queues behind those that arrived before', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: 1, env: hold.env });
  const slow = await RawConnection.connect(sluice.port);
  slow.send(`${upload}bo`);
  await statusWhen(sluice, ({ connections }) => connections >= 1, 'the upload');
  const first = await sent(sluice, '/hold/first');
  await hold.began('/hold/first');
  const queued: RawConnection[] = [];
  for (let index = 0; index < 3; index++) {
    queued.push(await sent(sluice, `/before/${index}`));
    await statusWhen(sluice, ({ queue }) => queue.length === index + 1, 'a queued request');
  }
  slow.send('dy');
  await statusWhen(sluice, ({ queue }) => queue.length === 4, 'the upload in the queue');
  queued.push(await sent(sluice, '/after'));
  await statusWhen(sluice, ({ queue }) => queue.length === 5, 'one behind it');
  hold.release('first');
  for (const connection of [first, ...queued, slow]) {
    assert.equal((await connection.response()).status, 200);
    connection.close();
  }
  assert.deepEqual(
    hold.journal.filter((line) => line.startsWith('begin')),
    ['/hold/first', '/before/0', '/before/1', '/before/2', '/upload', '/after'].map(
      (path) => `begin ${path}`,
    ),
  );
});

void test('uploads that become whole meanwhile let nobody wait beyond the deadline of the queue', async (t) => {
  const hold = new Hold(t);
  const wait_ms_max = 3_000;
  const env = { ...hold.env, SLUICE_QUEUE_WAIT_MS_MAX: String(wait_ms_max) };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  const uploads = await Promise.all(Array.from({ length: 3 }, () => RawConnection.connect(sluice.port)));
  for (const connection of uploads) connection.send(`${upload}bo`);
  await statusWhen(sluice, ({ connections }) => connections >= 3, 'the uploads');
  const first = await sent(sluice, '/hold/first');
  await hold.began('/hold/first');
  const waiting = ask(sluice, '/waiting');
  await statusWhen(sluice, ({ queue }) => queue.length === 1, 'the request that waits');
  // One after the other, so that there is always a young one that arrived first.
  for (const [index, connection] of uploads.entries()) {
    await statusWhen(
      sluice,
      ({ queue }) => queue.oldest_wait_ms >= (wait_ms_max / 4) * (index + 1),
      'some time in the queue',
    );
    connection.send('dy');
  }
  assertRefused(await waiting, 503, 'SLU-QUEUE-DEADLINE');
  // As the gateway's clock has it: on a busy machine this process is late itself.
  const line = await eventually(() => sluice.logs.find(({ target }) => target === '/waiting'));
  const waited_ms = Number(line['unserved_ms']);
  // With a deadline that each upload put off, it would be twice as long.
  assert.ok(waited_ms >= wait_ms_max - 50 && waited_ms < wait_ms_max * 1.5, `waited ${waited_ms} ms`);
  for (const connection of uploads) {
    assertRefused(await connection.response(), 503, 'SLU-QUEUE-DEADLINE');
    connection.close();
  }
  hold.release('first');
  assert.equal((await first.response()).status, 200);
});
