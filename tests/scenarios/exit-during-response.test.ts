// A worker whose process ends in the middle of an answer: the client sees that it is not whole, the request is not sent
// again, and everybody else is served. An answer that was whole stays so.
// Part of `make quick`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RawConnection } from '../support/raw.ts';
import { allReady, ask, bytesOf, ownApp, recordOf, running, sent, slotsHeld } from './scenario.ts';

for (const method of ['GET', 'POST']) {
  for (const [target, begins, outcome] of [
    ['/length', /^HTTP\/1\.1 200 [^]*content-length: 100\r\n[^]*half$/i, 'worker_died'],
    ['/chunked', /^HTTP\/1\.1 200 [^]*transfer-encoding: chunked\r\n[^]*half\r\n$/i, 'worker_died'],
    ['/events', /^HTTP\/1\.1 200 [^]*data: half\n\n\r\n$/i, 'worker_died'],
  ] as const) {
    void test(`${method} ${target} is cut and looks cut`, async (t) => {
      const sluice = await running(t, { entry: ownApp('exits.js'), workers: 2 });
      const client = await RawConnection.connect(sluice.port);
      client.send(bytesOf(target, 'Content-Length: 0\r\n', method));
      assert.match((await client.untilClosed()).toString('latin1'), begins);
      client.close();
      const record = await recordOf(sluice, target);
      assert.deepEqual([record['tries'], record['outcome']], [1, outcome]);
      const snapshot = await allReady(sluice, 2);
      assert.deepEqual([slotsHeld(snapshot), snapshot.overlaps_total], [0, 0]);
    });
  }
}

void test('an answer that is whole before the exit reaches its client whole, and its connection goes on', async (t) => {
  const sluice = await running(t, { entry: ownApp('exits.js'), workers: 1 });
  const client = await sent(sluice, '/whole');
  const response = await client.response();
  assert.deepEqual([response.status, response.body.length], [200, 1 << 20]);
  client.send(bytesOf('/'));
  assert.equal((await client.response()).body.toString(), 'ok\n');
  client.close();
  assert.equal((await recordOf(sluice, '/whole'))['outcome'], 'answered');
});

void test('those who wait behind it are served by the next worker', async (t) => {
  const sluice = await running(t, { entry: ownApp('exits.js'), workers: 1 });
  const cut = await sent(sluice, '/length');
  const others = await Promise.all(Array.from({ length: 10 }, () => ask(sluice, '/', { method: 'POST' })));
  assert.deepEqual(new Set(others.map(({ status }) => status)), new Set([200]));
  await cut.untilClosed();
  cut.close();
});
