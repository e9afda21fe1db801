// Workers that break: die, break off, answer what is not HTTP. Each client gets an honest end, each slot is the worker's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { bounds } from '../support/bounds.ts';
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
  statusWhen,
} from './scenario.ts';

/** Every worker has answered before, so its connection is one that is reused. */
async function warm(sluice: Sluice, workers: number): Promise<void> {
  await Promise.all(Array.from({ length: workers * 3 }, () => ask(sluice, '/sleep?ms=30')));
  await allReady(sluice, workers);
}

for (const kind of ['a fresh', 'a reused'] as const) {
  void test(`a worker that is killed on ${kind} connection with a POST gives its client 502 and the others nothing`, async (t) => {
    const hold = new Hold(t);
    const sluice = await running(t, { entry: hold.app, workers: 1, env: hold.env });
    if (kind === 'a reused') await warm(sluice, 1);
    const client = await RawConnection.connect(sluice.port);
    client.send(bytesOf('/hold/killed', 'Content-Length: 0\r\n', 'POST'));
    await hold.began('/hold/killed');
    const queued = ask(sluice, '/queued');
    await statusWhen(sluice, ({ queue }) => queue.length === 1, 'a queued request');
    process.kill(hold.pidOf('/hold/killed'), 'SIGKILL');
    assertRefused(await client.response(), 502, 'SLU-WORKER-DIED');
    assert.equal((await queued).status, 200);
    assert.equal((await recordOf(sluice, '/hold/killed'))['outcome'], 'worker_died');
    client.close();
  });
}

void test('I5: a POST crashes one worker each time, and two in total, however often it is sent', async (t) => {
  // The delays are for loops of crashes, which this looks like.
  const env = bounds({ backoff_ms_min: 1, backoff_ms_max: 10 });
  const sluice = await running(t, { entry: app('faulty.js'), workers: 3, env });
  for (let round = 1; round <= 5; round++) {
    await warm(sluice, 3);
    const response = await ask(sluice, '/exit', { method: 'POST' });
    if (round <= 2) assertRefused(response, 502, 'SLU-WORKER-DIED');
    else assertRefused(response, 500, 'SLU-REQUEST-QUARANTINED');
    const { workers } = await allReady(sluice, 3);
    const restarts = workers.reduce((sum, { restarts_total }) => sum + restarts_total, 0);
    assert.equal(restarts, Math.min(round, 2), 'workers that died');
  }
});

void test('a worker that dies in the middle of a response ends the connection of its client early', async (t) => {
  const sluice = await running(t, { entry: app('faulty.js'), workers: 1 });
  const client = await sent(sluice, '/half-then-exit');
  const received = (await client.untilClosed()).toString('latin1');
  assert.match(received, /^HTTP\/1\.1 (200|502) /);
  assert.equal((await recordOf(sluice, '/half-then-exit'))['outcome'], 'worker_died');
  await allReady(sluice, 1);
});

for (const [target, code] of [
  ['/garbage', 'SLU-WORKER-ANSWER-MALFORMED'],
  ['/two-lengths', 'SLU-WORKER-ANSWER-MALFORMED'],
  ['/nul-in-header', 'SLU-WORKER-ANSWER-MALFORMED'],
  ['/bare-cr-in-header', 'SLU-WORKER-ANSWER-MALFORMED'],
  ['/too-much', 'SLU-WORKER-ANSWER-MALFORMED'],
] as const) {
  void test(`what is not HTTP gives 502: ${target}`, async (t) => {
    const sluice = await running(t, { entry: app('faulty.js'), workers: 1 });
    const connection = await RawConnection.connect(sluice.port);
    connection.send(bytesOf(target));
    assertRefused(await connection.response(), 502, code);
    // The next client is not given what was left over.
    assert.equal((await ask(sluice, '/')).body.toString(), 'ok\n');
    assert.equal((await recordOf(sluice, target))['outcome'], 'worker_fault');
    connection.close();
  });
}

void test('I1: a worker that sent an invalid answer and continues gets no new requests', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, { entry: hold.app, workers: 1, env: hold.env });
  const target = '/hold/it?garbage';
  assertRefused(await ask(sluice, target), 502, 'SLU-WORKER-ANSWER-MALFORMED');
  assert.equal((await ask(sluice, '/next')).status, 200);
  // Nobody released the first, so only another process can have answered the second.
  assert.notEqual(hold.pidOf('/next'), hold.pidOf(target));
  assert.deepEqual(hold.journal, [`begin ${target}`, 'begin /next', 'end /next']);
});

void test('more headers than a response may have give 502', async (t) => {
  const sluice = await running(t, { entry: ownApp('unusual.js'), workers: 1 });
  assertRefused(await ask(sluice, '/many-headers'), 502, 'SLU-WORKER-ANSWER-MALFORMED');
  assert.equal((await ask(sluice, '/')).status, 200);
});

for (const target of ['/too-little', '/truncated-chunk']) {
  void test(`a response that ends early is not passed off as whole: ${target}`, async (t) => {
    const sluice = await running(t, { entry: app('faulty.js'), workers: 1 });
    const client = await sent(sluice, target);
    const received = (await client.untilClosed()).toString('latin1');
    assert.ok(!received.endsWith('0\r\n\r\n'), received);
    assert.equal((await ask(sluice, '/')).body.toString(), 'ok\n');
    assert.equal((await recordOf(sluice, target))['outcome'], 'worker_fault');
  });
}

for (const warmed of [false, true]) {
  const where = warmed ? ', on a reused connection' : '';
  void test(`I5: an app that destroys its response gets no retry and stays${where}`, async (t) => {
    const sluice = await running(t, { entry: ownApp('unusual.js'), workers: 1 });
    const pid = pidOf((await sluice.status()).workers[0]);
    if (warmed) await ask(sluice, '/');
    // Far sooner than the time after which a worker is given up.
    const connection = await sent(sluice, '/destroy');
    assertRefused(await connection.response({ deadlineMs: 1_500 }), 502, 'SLU-WORKER-ANSWER-TRUNCATED');
    assert.equal((await ask(sluice, '/')).body.toString(), `${pid}\n`, 'the same worker');
    await wait(2_500);
    const { workers } = await sluice.status();
    assert.deepEqual([workers[0]?.pid, workers[0]?.restarts_total], [pid, 0]);
  });
}

void test('an app that destroys its response in the middle stays too', async (t) => {
  const sluice = await running(t, { entry: ownApp('unusual.js'), workers: 1 });
  const pid = pidOf((await sluice.status()).workers[0]);
  const client = await sent(sluice, '/destroy-in-the-middle');
  assert.match((await client.untilClosed(1_500)).toString('latin1'), /^HTTP\/1\.1 200 [^]*half$/);
  assert.equal((await ask(sluice, '/')).body.toString(), `${pid}\n`, 'the same worker');
});

void test('a response without a length is whole when its worker ended it, and cut when its worker died', async (t) => {
  const sluice = await running(t, { entry: ownApp('unusual.js'), workers: 1 });
  const whole = await ask(sluice, '/until-close');
  assert.deepEqual([whole.status, whole.body.toString()], [200, 'row 1\nrow 2\n']);
  const client = await sent(sluice, '/until-close-then-die');
  const received = (await client.untilClosed()).toString('latin1');
  assert.ok(received.includes('row 1') && !received.endsWith('0\r\n\r\n'), received);
  assert.equal((await recordOf(sluice, '/until-close-then-die'))['outcome'], 'worker_died');
  await allReady(sluice, 1);
});
