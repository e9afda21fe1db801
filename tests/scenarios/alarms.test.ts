// What is wrong and lasts is said once in the log, stays in status and in a metric, and is over when it is over.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { app, type Sluice } from '../support/sluice.ts';
import type { Snapshot } from '../support/snapshot.ts';
import { ask, Hold, ownApp, running, sent, statusWhen } from './scenario.ts';
import { metric } from './stuck.ts';
import { Load, reload, Versions } from './versions.ts';

const raised = (sluice: Sluice, alarm: string) =>
  lines(sluice, 'alarm_raised').filter((line) => line['alarm'] === alarm);
const lines = (sluice: Sluice, event: string) => sluice.logs.filter((line) => line['event'] === event);

void test('a queue that does not become empty is an alarm until it has', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, ...bounds({ alarm_after_s: 1, alarm_queue_wait_ms: 0 }) };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  const clients = [await sent(sluice, '/hold/first')];
  await hold.began('/hold/first');
  assert.deepEqual((await sluice.status()).alarms, []);
  clients.push(await sent(sluice, '/queued/1'), await sent(sluice, '/queued/2'));
  // A worker that is held sleeps, which is another alarm when it has lasted.
  const steady = ({ alarms }: Snapshot) => alarms.find(({ alarm }) => alarm === 'steady_queue');
  const about = steady(await statusWhen(sluice, (now) => steady(now) !== undefined, 'an alarm'));
  assert.equal(about?.class, null);
  assert.match(about.text, /too few workers .*`sluice scale`/);
  assert.equal(await metric(sluice, 'sluice_alarms{alarm="steady_queue"}'), 1);
  assert.match((await sluice.cli(['status'])).stdout, /^ALARM +steady_queue for .*: for \d+ s, requests/m);
  hold.release('first');
  for (const client of clients) assert.equal((await client.response()).status, 200);
  const cleared = await eventually(
    () => lines(sluice, 'alarm_cleared').find(({ alarm }) => alarm === 'steady_queue'),
    { what: 'the end of the alarm' },
  );
  assert.equal(cleared['level'], 'info');
  assert.deepEqual(
    raised(sluice, 'steady_queue').map((line) => [line['level'], line['class']]),
    [['warn', null]],
  );
  assert.equal(steady(await sluice.status()), undefined);
  assert.equal(await metric(sluice, 'sluice_alarms{alarm="steady_queue"}'), 0);
});

void test('a version that costs many times as much is an alarm about its class', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const sluice = await running(t, { entry: versions.app, workers: 2, env: versions.env });
  const load = new Load(t, sluice, { clients: 3 });
  // So many requests make a long run.
  await statusWhen(sluice, ({ requests }) => requests.answered_total > 1_200, 'a long run', 60_000);
  assert.deepEqual(lines(sluice, 'alarm_raised'), []);
  versions.next({ version: 'two', works_ms: 15 });
  await reload(sluice);
  const raised = await eventually(
    () => lines(sluice, 'alarm_raised').find(({ alarm }) => alarm === 'cost_drift'),
    { what: 'the alarm', deadlineMs: 30_000 },
  );
  await load.end();
  assert.match(String(raised['class']), /GET \/$/);
  assert.match(String(raised['text']), /it takes \d+\.\d times its long-term CPU time\. .*`sluice classes`/);
  const { alarms } = await sluice.status();
  const about = alarms.find(({ alarm }) => alarm === 'cost_drift');
  assert.equal(about?.class, raised['class']);
  assert.equal(await metric(sluice, 'sluice_alarms{alarm="cost_drift"}'), 1);
});

void test('a class that another always overtakes is a steady queue until its turn comes', async (t) => {
  const sluice = await running(t, {
    entry: app('spin.js'),
    workers: 1,
    config: '[classes.routes]\n"/spin" = "class=urgent priority=1"\n',
    env: {
      ...bounds({ alarm_after_s: 2, alarm_queue_wait_ms: 0, ageing: 0 }),
      SLUICE_QUEUE_WAIT_MS_MAX: '600000',
    },
  });
  let isOver = false;
  const urgent = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!isOver) assert.equal((await ask(sluice, '/spin?ms=20')).status, 200);
    }),
  );
  await statusWhen(sluice, ({ queue }) => queue.length > 0, 'urgent requests that wait');
  const patient = await sent(sluice, '/');
  const line = await eventually(() => raised(sluice, 'steady_queue')[0], {
    what: 'the alarm',
    deadlineMs: 60_000,
  });
  assert.equal(line['level'], 'warn');
  assert.match(String(line['text']), /If only one class waits \(`sluice classes`\).* classes\.routes/);
  isOver = true;
  await urgent;
  assert.equal((await patient.response()).status, 200);
  await eventually(() => lines(sluice, 'alarm_cleared').some(({ alarm }) => alarm === 'steady_queue'), {
    what: 'the end of the alarm',
  });
});

void test('I1: a worker that reports an end too early and then an overlap is an alarm', async (t) => {
  const sluice = await running(t, {
    command: ['env', '-u', 'NODE_OPTIONS', process.execPath, ownApp('reports-early.js')],
    workers: 1,
    env: bounds({ alarm_after_s: 1 }),
  });
  assert.equal((await ask(sluice, '/')).body.toString(), '1');
  assert.equal((await sluice.status()).overlaps_total, 0);
  const early = await sent(sluice, '/early');
  assert.equal((await early.response()).status, 502);
  assert.equal((await ask(sluice, '/')).body.toString(), '2', 'it holds two now');
  const { alarms, overlaps_total } = await statusWhen(sluice, ({ alarms }) => alarms.length > 0, 'an alarm');
  assert.equal(overlaps_total, 1);
  assert.deepEqual(
    alarms.map(({ alarm }) => alarm),
    ['overlap'],
  );
  assert.match(alarms[0]?.text ?? '', /please report it with the log lines `overlap_seen`/);
  assert.deepEqual(
    lines(sluice, 'overlap_seen').map((line) => [line['worker'], line['count'], line['level']]),
    [[1, 1, 'error']],
  );
  assert.equal(await metric(sluice, 'sluice_overlaps_total'), 1);
  await eventually(() => lines(sluice, 'alarm_cleared')[0], { what: 'the end of the alarm' });
});
