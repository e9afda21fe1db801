// Every worker is killed at the same moment. What was queued waits for the next ones and is served; of what was in service,
// safe requests are sent again (I5).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import {
  allReady,
  ask,
  assertRefused,
  bytesOf,
  Hold,
  pidOf,
  running,
  sent,
  slotsHeld,
  statusWhen,
} from './scenario.ts';

const WORKERS = 3;
const QUEUED = 20;

void test('I3: no queued request is lost when all workers die at once, and service resumes with the first ready worker', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: WORKERS, env: hold.env });
  const pids = (await allReady(sluice, WORKERS)).workers.map(pidOf);
  const safe = [await sent(sluice, '/hold/a'), await sent(sluice, '/hold/b')];
  const order = await RawConnection.connect(sluice.port);
  order.send(bytesOf('/hold/order', 'Content-Length: 0\r\n', 'POST'));
  for (const name of ['a', 'b', 'order']) await hold.began(`/hold/${name}`);
  const queued: RawConnection[] = [];
  for (let index = 0; index < QUEUED; index++) {
    const client = await RawConnection.connect(sluice.port);
    client.send(bytesOf(`/queued/${index}`, 'Content-Length: 0\r\n', index % 2 === 0 ? 'GET' : 'POST'));
    queued.push(client);
  }
  await statusWhen(sluice, ({ queue }) => queue.length === QUEUED, 'the queue');

  for (const pid of pids) process.kill(pid, 'SIGKILL');
  for (const name of ['a', 'b']) hold.release(name);
  assertRefused(await order.response(), 502, 'SLU-WORKER-DIED');
  for (const client of [...safe, ...queued]) assert.equal((await client.response()).status, 200);
  for (const client of [...safe, ...queued, order]) client.close();

  const served = await eventually(() => {
    const lines = sluice.logs.filter(
      ({ event, target }) => event === 'access' && String(target).startsWith('/queued/'),
    );
    return lines.length === QUEUED && lines;
  });
  const ready = sluice.logs.filter(({ event }) => event === 'worker_ready')[WORKERS];
  const time = (line: Record<string, unknown> | undefined) => Date.parse(String(line?.['time']));
  // The line of a request bears the time of its first byte.
  const firstServed = Math.min(...served.map((line) => time(line) + Number(line['total_ms'])));
  const waited_ms = firstServed - time(ready);
  assert.ok(waited_ms < 3_000, `${waited_ms} ms from the first ready worker to the first answer`);
  const snapshot = await allReady(sluice, WORKERS);
  assert.deepEqual([slotsHeld(snapshot), snapshot.queue.length, snapshot.overlaps_total], [0, 0, 0]);
  const begins = (target: string) => hold.journal.filter((line) => line === `begin ${target}`).length;
  assert.deepEqual(['/hold/a', '/hold/b', '/hold/order'].map(begins), [2, 2, 1], 'only a GET is sent again');
  assert.ok(!hold.journal.some((line) => line.startsWith('overlap')));
});

void test('requests that come while no worker is alive wait for the next one', async (t) => {
  const hold = new Hold(t);
  // The first death in a row costs no delay, the second this one.
  const env = { ...hold.env, ...bounds({ backoff_ms_min: 1500 }) };
  const sluice = await running(t, { entry: hold.app, workers: 2, env });
  const first = (await allReady(sluice, 2)).workers.map(pidOf);
  for (const pid of first) process.kill(pid, 'SIGKILL');
  const second = await statusWhen(
    sluice,
    ({ workers }) =>
      workers.filter(({ state, pid }) => state === 'ready' && !first.includes(pid ?? 0)).length === 2,
    'the next two',
  );
  for (const worker of second.workers) process.kill(pidOf(worker), 'SIGKILL');
  await statusWhen(sluice, ({ workers }) => workers.every(({ state }) => state === 'backoff'), 'no worker');
  const answers = await Promise.all(
    [1, 2, 3].map((index) => ask(sluice, `/later/${index}`, { method: 'POST' })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
});

void test('I3: queued requests get an error if no worker becomes ready before their deadline', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, ...bounds({ backoff_ms_min: 60_000, backoff_ms_max: 60_000 }) };
  const sluice = await running(t, {
    entry: hold.app,
    workers: 1,
    env: { ...env, SLUICE_QUEUE_WAIT_MS_MAX: '500' },
  });
  const first = pidOf((await allReady(sluice, 1)).workers[0]);
  process.kill(first, 'SIGKILL');
  const second = await statusWhen(
    sluice,
    ({ workers }) => workers[0]?.state === 'ready' && workers[0].pid !== first,
    'the next',
  );
  process.kill(pidOf(second.workers[0]), 'SIGKILL');
  await statusWhen(sluice, ({ workers }) => workers[0]?.state === 'backoff', 'no worker');
  assertRefused(await ask(sluice, '/never'), 503, 'SLU-QUEUE-DEADLINE');
});
