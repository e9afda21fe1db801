// An app whose memory grows without end: its workers are replaced before that matters, and nobody notices.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { allReady, ownApp, pidOf, running, statusWhen } from './scenario.ts';
import { assertNeverFewer, recycled } from './recycled.ts';
import { metric } from './stuck.ts';
import { Load } from './versions.ts';

const MIB = 1024 * 1024;
/** Above what a Node process needs by itself. */
const BOUND = 150 * MIB;

void test('a worker that leaks is replaced again and again, and no request is lost', async (t) => {
  const env = { LEAK_MIB: '1', SLUICE_RECYCLE_MEMORY_BYTES_MAX: String(BOUND) };
  const sluice = await running(t, { entry: ownApp('leaky.js'), workers: 2, env });
  const first = (await allReady(sluice, 2)).workers.map(pidOf);
  const load = new Load(t, sluice, { clients: 2, target: '/leak' });
  await load.has('ok\n', 100);
  await recycled(sluice, 'memory', 3);
  assert.deepEqual(Object.keys(await load.end()), ['ok\n']);
  // Once nothing grows any more, whoever is too large is the last to go.
  const { workers } = await statusWhen(
    sluice,
    (now) =>
      now.workers.length === 2 &&
      now.workers.every(
        ({ state, rss_bytes }) => state === 'ready' && rss_bytes !== null && rss_bytes < BOUND,
      ),
    'two small workers',
    20_000,
  );
  assert.ok(
    workers.some((worker) => !first.includes(pidOf(worker))),
    'at least one of them is new',
  );
  // Being replaced is not a crash.
  for (const worker of workers) assert.equal(worker.restarts_total, 0);
  assert.ok((await metric(sluice, 'sluice_worker_recycles_total{reason="memory"}')) >= 3);
  assertNeverFewer(sluice, 2);
});

void test('a worker below the bound stays', async (t) => {
  const env = { LEAK_MIB: '0', SLUICE_RECYCLE_MEMORY_BYTES_MAX: String(4_096 * MIB) };
  const sluice = await running(t, { entry: ownApp('leaky.js'), workers: 1, env });
  const before = await statusWhen(
    sluice,
    ({ workers }) => typeof workers[0]?.rss_bytes === 'number',
    'a report of memory',
  );
  const load = new Load(t, sluice, { clients: 2, target: '/leak' });
  await load.has('ok\n', 500);
  await load.end();
  const reports = before.workers[0]?.age_s ?? 0;
  const after = await statusWhen(
    sluice,
    ({ workers }) => (workers[0]?.age_s ?? 0) > reports + 2,
    'more reports',
  );
  assert.equal(pidOf(after.workers[0]), pidOf(before.workers[0]));
  assert.ok(!sluice.logs.some(({ event }) => event === 'worker_recycled'));
});

void test('a bound below what the app needs by itself is named once, and workers are replaced more and more seldom', async (t) => {
  const env = {
    LEAK_MIB: '0',
    SLUICE_RECYCLE_MEMORY_BYTES_MAX: String(10 * MIB),
    ...bounds({ backoff_ms_min: 200 }),
  };
  const sluice = await running(t, { entry: ownApp('leaky.js'), workers: 1, env });
  const load = new Load(t, sluice, { clients: 1 });
  await recycled(sluice, 'memory', 4);
  assert.deepEqual(Object.keys(await load.end()), ['ok\n']);
  const notes = sluice.logs.filter(({ text }) => /is below the normal memory of the app/.test(String(text)));
  assert.equal(notes.length, 1, JSON.stringify(notes));
  assert.equal(notes[0]?.['level'], 'warn');
  assert.match(String(notes[0]?.['text']), /uses \d{2,} MiB .*\(10 MiB\).*Raise the limit/);
});
