// The gateway sees which `workers.concurrency` fits the app: in the log, in `sluice check`, and as an alarm where workers
// sleep while requests queue.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { ask, ownApp, running, STRICT } from './scenario.ts';
import { metric } from './stuck.ts';

const entry = ownApp('upstream.js');
const env = { ...bounds({ alarm_after_s: 2 }), SLUICE_QUEUE_WAIT_MS_MAX: '600000' };

/** Clients that ask for this until told to end. */
function clients(sluice: Sluice, target: string, count: number): () => Promise<void> {
  let isOver = false;
  const all = Array.from({ length: count }, async () => {
    while (!isOver) assert.equal((await ask(sluice, target, { deadlineMs: 60_000 })).status, 200);
  });
  return async () => {
    isOver = true;
    await Promise.all(all);
  };
}

const advice = (sluice: Sluice): Promise<string> =>
  eventually(
    () =>
      sluice.logs.map(({ text }) => String(text)).find((text) => text.startsWith('workers.concurrency = ')),
    { deadlineMs: 60_000, what: 'a line that says which mode fits' },
  );

const raised = (sluice: Sluice) =>
  sluice.logs.filter(({ event, alarm }) => event === 'alarm_raised' && alarm === 'workers_asleep');

const check = async (sluice: Sluice): Promise<string> => (await sluice.cli(['check', entry])).stdout;

void test('a strict app whose workers sleep while requests queue is told of while-waiting, and alarms', async (t) => {
  const sluice = await running(t, { entry, workers: 2, env, flags: STRICT });
  assert.match(await check(sluice), /# The running gateway: it has served too few requests/);
  const end = clients(sluice, '/page', 8);
  const line = await eventually(() => raised(sluice)[0], { deadlineMs: 60_000, what: 'the alarm' });
  assert.equal(line['level'], 'warn');
  assert.match(
    String(line['text']),
    /workers slept for \d+ % .*workers\.concurrency = "while-waiting" would serve (about \d+\.\d|more than 20) times as many/,
  );
  const says = /^workers\.concurrency = 1: workers sleep for \d+ % .* "while-waiting" would serve /;
  assert.match(await advice(sluice), says);
  assert.match(await check(sluice), /# The running gateway: workers\.concurrency = 1: workers sleep/);
  assert.equal(await metric(sluice, 'sluice_alarms{alarm="workers_asleep"}'), 1);
  assert.match((await sluice.cli(['status'])).stdout, /^ALARM +workers_asleep for /m);
  await end();
  await eventually(
    async () => (await sluice.status()).alarms.every(({ alarm }) => alarm !== 'workers_asleep'),
    {
      deadlineMs: 60_000,
      what: 'the end of the alarm',
    },
  );
  assert.equal(raised(sluice).length, 1);
});

void test('a strict app that computes while requests queue is told that it fits, and alarms about no sleep', async (t) => {
  const sluice = await running(t, { entry, workers: 2, env, flags: STRICT });
  const end = clients(sluice, '/turn', 8);
  assert.match(await advice(sluice), /^workers\.concurrency = 1 fits this app: workers sleep for \d+ %/);
  // An alarm would take two seconds.
  await wait(4_000);
  await end();
  assert.deepEqual(raised(sluice), []);
});

for (const [target, does] of [
  ['/turn', 'it computes'],
  ['/page', 'it waits for data'],
] as const) {
  void test(
    `while-waiting fits an app of which ${does}: nothing has to be done`,
    { skip: process.platform !== 'linux' && 'only Linux tells whether a worker waits' },
    async (t) => {
      const sluice = await running(t, { entry, workers: 1, env });
      const end = clients(sluice, target, 4);
      assert.match(
        await advice(sluice),
        new RegExp(
          `^workers\\.concurrency = "while-waiting" fits this app: .*${does}.* No action is needed$`,
        ),
      );
      assert.match(await check(sluice), /# The running gateway: .* No action is needed\./);
      await end();
      assert.deepEqual(raised(sluice), []);
    },
  );
}
