// An app that listens and dies, again and again: started again, ever more slowly, and never taken for a wanted exit.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { app } from '../support/sluice.ts';
import { ask, isAlive, ownApp, pidOf, running, statusWhen } from './scenario.ts';

void test('workers that die soon after they listened are started again with growing delays', async (t) => {
  const env = bounds({ backoff_ms_min: 200, backoff_ms_max: 5000 });
  const sluice = await running(t, { entry: ownApp('crashes-later.js'), workers: 1, env });
  await statusWhen(sluice, ({ workers }) => (workers[0]?.restarts_total ?? 0) >= 2, 'two restarts');
  await wait(3_000);
  // At once, then after 0.4 s, 0.8 s, 1.6 s …: without delays there would be one start in 0.2 s.
  const starts = sluice.logs.filter(({ event }) => event === 'worker_started').length;
  assert.ok(starts >= 3 && starts <= 8, `${starts} starts`);
  const exits = sluice.logs.filter(({ event }) => event === 'worker_exited');
  assert.ok(exits.length > 0 && exits.every(({ expected }) => expected === false), 'no exit was expected');
  assert.ok(sluice.running, 'the gateway goes on');
  assert.ok(
    sluice.logs.some(({ line }) => String(line).includes('crashed later on purpose')),
    "the app's own words",
  );
});

void test('I4: the exit of an idle worker is noticed immediately, and the worker is replaced', async (t) => {
  const sluice = await running(t, { entry: app('trivial.js'), workers: 2 });
  const before = await statusWhen(
    sluice,
    ({ workers }) => workers.every(({ state }) => state === 'ready'),
    'two workers',
  );
  const victim = pidOf(before.workers[0]);
  process.kill(victim, 'SIGKILL');
  await statusWhen(
    sluice,
    ({ workers }) =>
      workers[0]?.restarts_total === 1 && workers[0].state === 'ready' && workers[0].pid !== victim,
    'a new worker in the same place',
  );
  assert.ok(!isAlive(victim));
  assert.equal((await ask(sluice, '/')).status, 200);
});
