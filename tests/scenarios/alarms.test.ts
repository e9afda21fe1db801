// What is wrong and lasts is said once in the log, stays in status and in a metric, and is over when it is over.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { Hold, running, sent, statusWhen } from './scenario.ts';
import { metric } from './stuck.ts';
import { Load, reload, Versions } from './versions.ts';

const lines = (sluice: Sluice, event: string) => sluice.logs.filter((line) => line['event'] === event);

void test('a queue that does not become empty is an alarm until it has', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_ALARMS_AFTER_S: '1', SLUICE_ALARMS_QUEUE_WAIT_MS: '0' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  const clients = [await sent(sluice, '/hold/first')];
  await hold.began('/hold/first');
  assert.deepEqual((await sluice.status()).alarms, []);
  clients.push(await sent(sluice, '/queued/1'), await sent(sluice, '/queued/2'));
  const { alarms } = await statusWhen(sluice, ({ alarms }) => alarms.length > 0, 'an alarm');
  assert.deepEqual(
    alarms.map((alarm) => [alarm.alarm, alarm.class]),
    [['steady_queue', null]],
  );
  assert.match(alarms[0]?.text ?? '', /too few workers .*`sluice scale`/);
  assert.equal(await metric(sluice, 'sluice_alarms{alarm="steady_queue"}'), 1);
  assert.match((await sluice.cli(['status'])).stdout, /^ALARM +steady_queue for .*: for \d+ s requests/m);
  hold.release('first');
  for (const client of clients) assert.equal((await client.response()).status, 200);
  const cleared = await eventually(() => lines(sluice, 'alarm_cleared')[0], { what: 'the end of the alarm' });
  assert.deepEqual([cleared['alarm'], cleared['level']], ['steady_queue', 'info']);
  assert.deepEqual(
    lines(sluice, 'alarm_raised').map((line) => [line['alarm'], line['level'], line['class']]),
    [['steady_queue', 'warn', null]],
  );
  assert.deepEqual((await sluice.status()).alarms, []);
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
  assert.match(String(raised['text']), /it costs \d+\.\d times the CPU .*`sluice classes`/);
  const { alarms } = await sluice.status();
  const about = alarms.find(({ alarm }) => alarm === 'cost_drift');
  assert.equal(about?.class, raised['class']);
  assert.equal(await metric(sluice, 'sluice_alarms{alarm="cost_drift"}'), 1);
});
