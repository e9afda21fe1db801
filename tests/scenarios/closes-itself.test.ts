// A worker that closes its server by itself while it holds a request that it will never answer: others do not wait for that.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ask, ownApp, running, sent, statusWhen } from './scenario.ts';

void test('I3: if the only worker closes its server, another worker serves while the first finishes its last request', async (t) => {
  const env = { SLUICE_DRAIN_TIMEOUT_MS: '100' };
  const sluice = await running(t, { entry: ownApp('closes-itself.js'), workers: 1, env });
  const first = (await ask(sluice, '/')).body.toString();
  const client = await sent(sluice, '/fail');
  await eventually(() =>
    sluice.logs.find(({ text }) => String(text).startsWith('worker 1 closed its server by itself')),
  );
  const { status, body } = await ask(sluice, '/');
  assert.equal(status, 200);
  assert.notEqual(body.toString(), first);
  const { workers } = await statusWhen(
    sluice,
    (snapshot) => snapshot.workers.length === 2,
    'the one that leaves and the one that serves',
  );
  assert.deepEqual(
    workers.map(({ id, state, current }) => [id, state, current.length]),
    [
      [1, 'leaving', 1],
      [2, 'ready', 0],
    ],
  );
  assert.equal(workers[1]?.restarts_total, 1);
  client.close();
});
