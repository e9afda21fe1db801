// A request that would wait for longer than its budget is given something cheaper than a render: for now an honest 503.
// Part of `make quick`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app } from '../support/sluice.ts';
import {
  LEARNED_AFTER,
  STRICT,
  ask,
  assertRefused,
  Hold,
  recordOf,
  running,
  sent,
  statusWhen,
} from './scenario.ts';

void test('what would wait for longer than its budget goes down the ladder, and each step is told', async (t) => {
  const sluice = await running(t, {
    entry: app('spin.js'),
    workers: 1,
    env: { SLUICE_QUEUE_BUDGET_MS: '400' },
    flags: STRICT,
  });
  // The gateway learns what a request costs.
  for (let round = 0; round < LEARNED_AFTER; round++) await ask(sluice, '/sleep?ms=100');
  const targets = Array.from({ length: 20 }, (_, index) => `/sleep?ms=100&index=${index}`);
  const answers = await Promise.all(targets.map((target) => ask(sluice, target)));
  const at = answers.findIndex(({ status }) => status === 503);
  assertRefused(answers[at] ?? assert.fail('nobody was refused'), 503, 'SLU-QUEUE-BUDGET');
  const served = answers.filter(({ status }) => status === 200).length;
  assert.ok(served >= 2, 'what fits is served');
  const refused = await recordOf(sluice, targets[at] ?? '');
  assert.deepEqual([refused['step'], refused['outcome'], refused['worker']], ['refuse', 'shed', null]);
  assert.equal((await recordOf(sluice, '/sleep?ms=100'))['step'], 'render');
  const steps = { render: LEARNED_AFTER + served, refuse: 20 - served };
  await statusWhen(
    sluice,
    ({ requests }) => requests.steps['render'] === steps.render && requests.steps['refuse'] === steps.refuse,
    'a count of every step',
  );
  const metrics = await (await fetch(`${sluice.admin}/metrics`)).text();
  assert.match(
    metrics,
    new RegExp(`^sluice_ladder_steps_total\\{class=".+",step="refuse"\\} ${steps.refuse}$`, 'm'),
  );
  const { stdout } = await sluice.cli(['status']);
  assert.match(stdout, new RegExp(`^ladder +refuse ${steps.refuse}, render ${steps.render}$`, 'm'));
});

void test('without a budget only the limits of the queue refuse, as the last step', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_QUEUE_LENGTH_MAX: '1' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  const taken = [await sent(sluice, '/hold/first')];
  await hold.began('/hold/first');
  taken.push(await sent(sluice, '/queued'));
  await statusWhen(sluice, ({ queue }) => queue.length === 1, 'a full queue');
  assertRefused(await ask(sluice, '/refused'), 503, 'SLU-QUEUE-FULL');
  assert.equal((await recordOf(sluice, '/refused'))['step'], 'refuse');
  hold.release('first');
  for (const connection of taken) assert.equal((await connection.response()).status, 200);
  assert.equal((await recordOf(sluice, '/queued'))['step'], 'render');
  assert.equal((await fetch(`${sluice.url}/.sluice/ping`)).status, 200);
  assert.equal((await recordOf(sluice, '/.sluice/ping'))['step'], null);
});

void test('a route may have a budget of its own', async (t) => {
  const hold = new Hold(t);
  const config = '[queue]\nbudget_ms = 60000\n[classes.routes]\n"/tight" = "budget_ms=50"\n';
  const sluice = await running(t, { entry: hold.app, workers: 1, env: hold.env, config, flags: STRICT });
  // The gateway learns that requests take long.
  for (let round = 0; round < LEARNED_AFTER; round++) {
    const slow = await sent(sluice, `/hold/slow-${round}`);
    await statusWhen(
      sluice,
      ({ workers }) => (workers[0]?.current[0]?.for_ms ?? 0) > 100,
      'a long service time',
    );
    hold.release(`slow-${round}`);
    assert.equal((await slow.response()).status, 200);
  }
  const next = await sent(sluice, '/hold/next');
  await hold.began('/hold/next');
  assertRefused(await ask(sluice, '/tight'), 503, 'SLU-QUEUE-BUDGET');
  const patient = await sent(sluice, '/patient');
  await statusWhen(sluice, ({ queue }) => queue.length === 1, 'one that waits');
  hold.release('next');
  for (const client of [next, patient]) assert.equal((await client.response()).status, 200);
  assert.equal((await ask(sluice, '/tight')).status, 200, 'nobody is in front of it');
});
