// A worker whose memory ends: V8's heap, or the kernel's patience.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allReady, ask, assertRefused, pidOf, running, statusWhen } from './scenario.ts';
import { logged, metric, stuckApp } from './stuck.ts';

const config = '[app]\nnode_args = ["--max-old-space-size=40"]\n';

void test('a full JavaScript heap is named, with the option that makes it larger', async (t) => {
  const sluice = await running(t, { entry: stuckApp, workers: 1, config });
  await statusWhen(
    sluice,
    ({ workers }) => typeof workers[0]?.rss_bytes === 'number',
    'a first report of memory',
  );
  assertRefused(
    await ask(sluice, '/memory', { method: 'POST', body: 'x', deadlineMs: 30_000 }),
    502,
    'SLU-WORKER-DIED',
  );
  const exit = await logged(sluice, 'worker_exited');
  assert.equal(exit['reason'], 'out_of_memory');
  const status = String(exit['status']);
  assert.match(status, /SLU-WORKER-OUT-OF-MEMORY: the JavaScript heap was full \(it held \d+ of \d+ MiB/);
  assert.match(status, /--max-old-space-size/);
  assert.equal(await metric(sluice, 'sluice_worker_exits_total{reason="out_of_memory",expected="false"}'), 1);
  await allReady(sluice, 1);
});

void test('a kill by somebody else is told from one by the gateway', async (t) => {
  const sluice = await running(t, { entry: stuckApp, workers: 1 });
  process.kill(pidOf((await sluice.status()).workers[0]), 'SIGKILL');
  const exit = await logged(sluice, 'worker_exited');
  assert.equal(exit['reason'], 'signalled');
  assert.match(String(exit['status']), /killed from outside \(the kernel's out-of-memory killer\?\)/);
});
