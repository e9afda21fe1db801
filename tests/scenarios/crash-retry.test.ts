// A worker that dies with a request: a safe one whose answer has not begun gets one more worker (I5), any other one an
// honest error. Nothing is lost, answered twice, or keeps a slot.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { bounds } from '../support/bounds.ts';
import { randomFrom, seed } from '../support/chance.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { app, type Sluice } from '../support/sluice.ts';
import {
  allReady,
  ask,
  assertRefused,
  bytesOf,
  Hold,
  ownApp,
  pidOf,
  recordOf,
  running,
  sent,
  slotsHeld,
  statusWhen,
} from './scenario.ts';

/** The delays are for loops of crashes, which these tests look like. */
const quick = bounds({ backoff_ms_min: 1, backoff_ms_max: 10 });

const kill = (pid: number): void => {
  process.kill(pid, 'SIGKILL');
};

/** How often workers began with this target. */
const begins = (hold: Hold, target: string): number =>
  hold.journal.filter((line) => line === `begin ${target}`).length;

async function metric(sluice: Sluice, name: string): Promise<number> {
  const page = await (await fetch(`${sluice.admin}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(page)?.[1]);
}

for (const warmed of [false, true]) {
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    void test(`I5: ${method} whose worker is killed is answered by another${warmed ? ', on a reused connection' : ''}`, async (t) => {
      const hold = new Hold(t);
      const sluice = await running(t, { entry: hold.app, workers: 2, env: { ...hold.env, ...quick } });
      if (warmed) await Promise.all([ask(sluice, '/'), ask(sluice, '/')]);
      const client = await RawConnection.connect(sluice.port);
      client.send(bytesOf('/hold/it', '', method));
      await hold.began('/hold/it');
      const first = hold.pidOf('/hold/it');
      kill(first);
      await eventually(() => begins(hold, '/hold/it') === 2, { what: 'a second worker' });
      hold.release('it');
      const response = await client.response({ toHead: method === 'HEAD' });
      assert.equal(response.status, 200);
      if (method !== 'HEAD') assert.notEqual(Number(response.body.toString()), first);
      // The connection is as good as before.
      client.send(bytesOf('/again'));
      assert.equal((await client.response()).status, 200);
      client.close();
      const record = await recordOf(sluice, '/hold/it');
      assert.deepEqual([record['tries'], record['outcome'], record['status']], [2, 'answered', 200]);
      assert.equal(await metric(sluice, 'sluice_requests_retried_total'), 1);
      const snapshot = await allReady(sluice, 2);
      assert.deepEqual([slotsHeld(snapshot), snapshot.queue.length, snapshot.overlaps_total], [0, 0, 0]);
    });
  }
}

for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
  void test(`I5: ${method} whose worker is killed is 502 and reaches no second worker`, async (t) => {
    const hold = new Hold(t);
    const sluice = await running(t, { entry: hold.app, workers: 2, env: { ...hold.env, ...quick } });
    const asked = ask(sluice, '/hold/it', { method, body: 'once' });
    await hold.began('/hold/it');
    kill(hold.pidOf('/hold/it'));
    assertRefused(await asked, 502, 'SLU-WORKER-DIED');
    const record = await recordOf(sluice, '/hold/it');
    assert.deepEqual([record['tries'], record['outcome']], [1, 'worker_died']);
    await allReady(sluice, 2);
    assert.equal(begins(hold, '/hold/it'), 1);
  });
}

void test('I5: a worker that is killed while it reads a large body fails a POST, which reaches no second worker', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: 2, env: { ...hold.env, ...quick } });
  // The app does not read it, so that most of it has not been written when the worker dies.
  const asked = ask(sluice, '/hold/it', { method: 'POST', body: 'x'.repeat(8_000_000) });
  await hold.began('/hold/it');
  kill(hold.pidOf('/hold/it'));
  assertRefused(await asked, 502, 'SLU-WORKER-DIED');
  assert.equal(begins(hold, '/hold/it'), 1);
  await statusWhen(sluice, (snapshot) => slotsHeld(snapshot) === 0, 'no slot held');
});

void test('I5: a GET whose worker dies while it reads a large body is retried with the full body', async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-poison-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const env = { POISON_DIR: dir, ...quick };
  const sluice = await running(t, { entry: ownApp('poison.js'), workers: 2, env });
  const body = 'x'.repeat(3_000_000);
  const response = await ask(sluice, '/counts-the-second-time?it', { body });
  assert.deepEqual([response.status, response.body.toString()], [200, `${body.length}\n`]);
  assert.equal((await recordOf(sluice, '/counts-the-second-time?it'))['tries'], 2);
});

void test('I5: an answer that has begun is cut off, and the request is not retried', async (t) => {
  const sluice = await running(t, { entry: app('faulty.js'), workers: 2, env: quick });
  const client = await sent(sluice, '/half-then-exit');
  const received = (await client.untilClosed()).toString('latin1');
  assert.match(received, /^HTTP\/1\.1 200 [^]*half$/);
  const record = await recordOf(sluice, '/half-then-exit');
  assert.deepEqual([record['tries'], record['outcome']], [1, 'worker_died']);
});

void test('I5: a request is retried once, even if it crashes the second worker', async (t) => {
  const sluice = await running(t, { entry: app('faulty.js'), workers: 3, env: quick });
  assertRefused(await ask(sluice, '/exit'), 502, 'SLU-WORKER-DIED');
  assert.equal((await recordOf(sluice, '/exit'))['tries'], 2);
  const { workers } = await allReady(sluice, 3);
  assert.equal(
    workers.reduce((sum, { restarts_total }) => sum + restarts_total, 0),
    2,
    'workers that died',
  );
});

void test('a client that has gone gets no second try', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: 2, env: { ...hold.env, ...quick } });
  const client = await sent(sluice, '/hold/it');
  await hold.began('/hold/it');
  client.reset();
  await eventually(async () => (await sluice.status()).connections === 0, {
    what: 'the end of the connection',
  });
  kill(hold.pidOf('/hold/it'));
  const snapshot = await allReady(sluice, 2);
  assert.deepEqual([slotsHeld(snapshot), snapshot.queue.length, begins(hold, '/hold/it')], [0, 0, 1]);
  assert.equal((await recordOf(sluice, '/hold/it'))['outcome'], 'client_gone_in_service');
});

/** A gateway whose only worker was killed with `/hold/it`, which waits for the next one for a second at least. */
async function waitingForItsSecond(t: TestContext, hold: Hold): Promise<[Sluice, RawConnection]> {
  const env = { ...hold.env, ...bounds({ backoff_ms_min: 1000 }) };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  // The first death in a row costs no delay.
  const first = pidOf((await allReady(sluice, 1)).workers[0]);
  kill(first);
  await statusWhen(
    sluice,
    ({ workers }) => workers[0]?.state === 'ready' && workers[0].pid !== first,
    'the next',
  );
  const client = await sent(sluice, '/hold/it');
  await hold.began('/hold/it');
  kill(hold.pidOf('/hold/it'));
  await statusWhen(sluice, ({ queue }) => queue.length === 1, 'the request in the queue again');
  return [sluice, client];
}

void test('a client that leaves while its request waits for the second worker leaves nothing behind', async (t) => {
  const hold = new Hold(t);
  const [sluice, client] = await waitingForItsSecond(t, hold);
  client.close();
  assert.equal((await ask(sluice, '/next')).status, 200);
  const snapshot = await allReady(sluice, 1);
  assert.deepEqual([slotsHeld(snapshot), snapshot.queue.length, begins(hold, '/hold/it')], [0, 0, 1]);
  const record = await recordOf(sluice, '/hold/it');
  // A worker has seen it, so it did not merely leave the queue.
  assert.deepEqual([record['outcome'], record['tries']], ['client_gone_in_service', 1]);
});

void test('a request that is sent again keeps its place before those that came later', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: 1, env: { ...hold.env, ...quick } });
  const first = await sent(sluice, '/hold/first');
  await hold.began('/hold/first');
  const later: RawConnection[] = [];
  for (let index = 0; index < 5; index++) {
    later.push(await sent(sluice, `/later/${index}`));
    await statusWhen(sluice, ({ queue }) => queue.length === index + 1, 'a queued request');
  }
  kill(hold.pidOf('/hold/first'));
  await eventually(() => begins(hold, '/hold/first') === 2, { what: 'a second worker' });
  assert.ok(!hold.journal.some((line) => line.startsWith('begin /later')));
  hold.release('first');
  for (const connection of [first, ...later]) {
    assert.equal((await connection.response()).status, 200);
    connection.close();
  }
});

void test('a gateway that is stopped while a request waits for its second worker finishes it first', async (t) => {
  const hold = new Hold(t);
  const [sluice, client] = await waitingForItsSecond(t, hold);
  sluice.signal('SIGTERM');
  await eventually(() => begins(hold, '/hold/it') === 2, { what: 'a second worker' });
  hold.release('it');
  assert.equal((await client.response()).status, 200);
  client.close();
  assert.equal((await sluice.finished()).code, 0);
});

void test('I3: a request without a second worker in time gets an error', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_DRAIN_TIMEOUT_MS: '300', SLUICE_WORKERS_STOP_TIMEOUT_MS: '500' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  const client = await sent(sluice, '/hold/it');
  await hold.began('/hold/it');
  // The worker leaves for SIGTERM with the request in its hands, and there will be no other.
  sluice.signal('SIGTERM');
  assertRefused(await client.response(), 503, 'SLU-DRAINING');
  client.close();
  await sluice.finished();
});

void test('I1: a connection that another process keeps open does not delay the request of a dead worker', async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-poison-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const sluice = await running(t, {
    entry: ownApp('poison.js'),
    workers: 1,
    env: { POISON_DIR: dir, ...quick },
  });
  assert.equal((await ask(sluice, '/leaves-a-child?get', { deadlineMs: 5_000 })).status, 200);
  assertRefused(
    await ask(sluice, '/leaves-a-child?post', { method: 'POST', body: 'x', deadlineMs: 5_000 }),
    502,
    'SLU-WORKER-DIED',
  );
  await allReady(sluice, 1);
});

void test('I5: the exit of a process is noticed although its parent shell still runs', async (t) => {
  const hold = new Hold(t);
  const command = ['sh', '-c', `"${process.execPath}" "${hold.app}"; sleep 30`];
  const sluice = await running(t, { command, workers: 2, env: { ...hold.env, ...quick } });
  const asked = ask(sluice, '/hold/it');
  await hold.began('/hold/it');
  kill(hold.pidOf('/hold/it'));
  hold.release('it');
  assert.equal((await asked).status, 200);
  assert.equal(begins(hold, '/hold/it'), 2);
});

void test(
  'I5: while workers are killed at random, no GET fails and nothing is quarantined',
  { timeout: 120_000 },
  async (t) => {
    const sluice = await running(t, { entry: ownApp('poison.js'), workers: 4, env: quick });
    const [KILLS, ANSWERS] = [16, 500];
    let answered = 0;
    let kills = 0;
    const isEnough = () => kills >= KILLS && answered >= ANSWERS;
    const random = randomFrom(seed);
    const failed: string[] = [];
    const client = async (): Promise<void> => {
      const connection = await RawConnection.connect(sluice.port);
      while (!isEnough()) {
        // One page for all: as popular as can be.
        connection.send(bytesOf('/slow?ms=20'));
        const response = await connection.response();
        if (response.status === 200) answered += 1;
        else failed.push(`${response.status} ${response.headers.get('x-sluice-error') ?? ''}`);
      }
      connection.close();
    };
    const killer = async (): Promise<void> => {
      while (!isEnough()) {
        await wait(300);
        const { workers } = await sluice.status();
        const alive = workers.filter(({ state }) => state === 'ready' || state === 'busy');
        const victim = alive[random(alive.length)];
        if (alive.length < 2 || victim === undefined) continue;
        try {
          kill(pidOf(victim));
          kills += 1;
        } catch {
          // It died in between.
        }
      }
    };
    await Promise.all([killer(), ...Array.from({ length: 8 }, client)]);
    assert.deepEqual(failed, []);
    const snapshot = await allReady(sluice, 4);
    assert.deepEqual([slotsHeld(snapshot), snapshot.queue.length, snapshot.overlaps_total], [0, 0, 0]);
    assert.equal(await metric(sluice, 'sluice_quarantined_requests'), 0);
    t.diagnostic(
      `${kills} kills, ${answered} answers, ${await metric(sluice, 'sluice_requests_retried_total')} sent again`,
    );
  },
);

void test('I5: service time does not count as queue wait: a slow request also gets its retry', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, ...quick, SLUICE_QUEUE_WAIT_MS_MAX: '300' };
  const sluice = await running(t, { entry: hold.app, workers: 2, env });
  await allReady(sluice, 2);
  const client = await sent(sluice, '/hold/slow');
  await hold.began('/hold/slow');
  await wait(500);
  kill(hold.pidOf('/hold/slow'));
  await eventually(() => begins(hold, '/hold/slow') === 2, { what: 'a second worker' });
  hold.release('slow');
  assert.equal((await client.response()).status, 200);
});
