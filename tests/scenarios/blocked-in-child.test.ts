// A worker whose main thread waits without burning CPU is not stuck; it has a limit of its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { bounds } from '../support/bounds.ts';
import { allReady, ask, assertRefused, pidOf, running } from './scenario.ts';
import { logged, metric, quick, stuckApp } from './stuck.ts';

for (const target of ['/child', '/lock']) {
  void test(`a worker that waits in ${target} falls to the limit for blocked ones`, async (t) => {
    const env = { ...quick, ...bounds({ overdue_after_ms: 0, blocked_after_ms: 3500 }) };
    const sluice = await running(t, { entry: stuckApp, workers: 1, env });
    assertRefused(await ask(sluice, target), 504, 'SLU-WORKER-STUCK');
    const line = await logged(sluice, 'worker_blocked');
    assert.ok(Number(line['silent_ms']) >= 3_500, String(line['silent_ms']));
    assert.match(String(line['waits_in']), process.platform === 'linux' ? /^sleeps \(S\)/ : /./);
    assert.deepEqual([line['method'], line['target']], ['GET', target]);
    assert.ok(!sluice.logs.some(({ event }) => event === 'worker_stuck'));
    assert.equal((await logged(sluice, 'worker_exited'))['reason'], 'blocked');
    assert.equal((await ask(sluice, '/')).status, 200);
    assert.equal(await metric(sluice, 'sluice_worker_exits_total{reason="blocked",expected="false"}'), 1);
  });
}

void test('a synchronous child that is longer than the limit for stuck ones disturbs nothing', async (t) => {
  const sluice = await running(t, { entry: stuckApp, workers: 1, env: quick });
  assert.equal((await ask(sluice, '/pause')).status, 200);
  assert.equal((await ask(sluice, '/')).status, 200);
  assert.equal((await sluice.status()).workers[0]?.restarts_total, 0);
  assert.ok(!sluice.logs.some(({ event }) => event === 'worker_stuck' || event === 'worker_blocked'));
});

void test('a machine that slept has no stuck workers when it wakes up', async (t) => {
  const env = { ...quick, ...bounds({ overdue_after_ms: 0, blocked_after_ms: 1500 }) };
  const sluice = await running(t, { entry: stuckApp, workers: 1, env });
  const { pid: gateway, workers } = await sluice.status();
  const worker = pidOf(workers[0]);
  // The gateway wakes up first and looks at workers that have not beaten for long and do nothing yet.
  process.kill(gateway, 'SIGSTOP');
  process.kill(worker, 'SIGSTOP');
  await wait(3_000);
  process.kill(gateway, 'SIGCONT');
  await wait(900);
  process.kill(worker, 'SIGCONT');
  assert.equal((await ask(sluice, '/')).status, 200);
  await allReady(sluice, 1);
  assert.equal((await sluice.status()).workers[0]?.restarts_total, 0);
  assert.ok(!sluice.logs.some(({ event }) => event === 'worker_stuck' || event === 'worker_blocked'));
});
