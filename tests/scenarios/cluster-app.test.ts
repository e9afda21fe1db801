// An app that forks its own `node:cluster`: the process that serves ends, its primary stays and would start another.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { allReady, ask, nothingLeftOf, ownApp, pidOf, running } from './scenario.ts';

void test('the primary of a cluster is told to leave, not killed when its time is over', async (t) => {
  // Longer than the test waits.
  const env = { SLUICE_WORKERS_STOP_TIMEOUT_MS: '60000' };
  const sluice = await running(t, { entry: ownApp('cluster.js'), workers: 2, env });
  await allReady(sluice, 2);
  assert.equal((await ask(sluice, '/')).status, 200);
  assert.equal((await sluice.cli(['scale', '1'])).code, 0);
  const exits = () => sluice.logs.filter(({ event }) => event === 'worker_exited');
  await eventually(() => exits().length === 1, { what: 'the end of one worker' });
  assert.equal(exits()[0]?.['expected'], true);
  sluice.signal('SIGTERM');
  assert.equal((await sluice.finished(20_000)).code, 0);
  await nothingLeftOf(sluice);
  assert.doesNotMatch(sluice.stdout, /did not exit in time|SIGKILL/);
});

for (const [how, env, ending] of [
  ['leaves at SIGTERM', {}, /SIGTERM/],
  ['is deaf', { CLUSTER_DEAF: '1' }, /by the gateway: the serving process had exited by itself/],
] as const) {
  void test(`the death of the process that serves is not blamed on the kernel when its primary ${how}`, async (t) => {
    const sluice = await running(t, { entry: ownApp('cluster.js'), workers: 1, env });
    const first = pidOf((await allReady(sluice, 1)).workers[0]);
    assert.equal((await ask(sluice, '/exit')).status, 502);
    const next = await eventually(async () => {
      const worker = (await sluice.status()).workers[0];
      return worker?.state === 'ready' && worker.pid !== first && worker;
    });
    assert.ok(next);
    const exit = await eventually(() => sluice.logs.find(({ event }) => event === 'worker_exited'));
    assert.match(String(exit['status']), ending);
    assert.doesNotMatch(String(exit['status']), /kernel|outside/);
  });
}
