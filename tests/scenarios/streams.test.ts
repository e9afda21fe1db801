// Upgraded connections and event streams: out of the slot at their headers, under limits of their own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { app, type Sluice } from '../support/sluice.ts';
import {
  allReady,
  ask,
  assertRefused,
  bytesOf,
  ownApp,
  recordOf,
  running,
  sent,
  slotsHeld,
  statusWhen,
} from './scenario.ts';

const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGVzdA==\r\n';

/** Probes and other idle connections are gone soon. */
const quick = { SLUICE_SERVER_KEEP_ALIVE_TIMEOUT_MS: '300' };

async function holdsNoSlot(sluice: Sluice, streams: number, target = '/spin?ms=1'): Promise<void> {
  const now = await statusWhen(
    sluice,
    (seen) => seen.streams === streams && slotsHeld(seen) === 0,
    `${streams} streams`,
  );
  assert.equal(
    now.workers.reduce((sum, worker) => sum + worker.streams, 0),
    streams,
  );
  assert.deepEqual(
    now.workers.flatMap(({ current }) => current),
    [],
    'no stream is a current request',
  );
  assert.equal((await ask(sluice, target, { deadlineMs: 5_000 })).status, 200);
}

void test('I1: an upgraded connection leaves the slot and carries bytes both ways', async (t) => {
  const sluice = await running(t, { entry: app('stream.js'), workers: 1 });
  const connection = await sent(sluice, '/ws', upgrade);
  const response = await connection.response();
  assert.deepEqual([response.status, response.headers.get('upgrade')], [101, 'websocket']);
  assert.equal(response.headers.get('sec-websocket-accept'), 'T3TQpOmnRqmZUfV9OrgZq2FJw54=');
  connection.send('\x81\x05hello');
  await connection.untilBytes('\x81\x05hello');
  await holdsNoSlot(sluice, 1);
  const large = 'x'.repeat(300_000);
  connection.send(large + 'END');
  assert.equal((await connection.untilBytes('END')).length, 300_003);
  connection.close();
  await statusWhen(sluice, ({ streams }) => streams === 0, 'the end of the stream');
});

void test('bytes that a client sends right behind its upgrade request are not lost', async (t) => {
  const sluice = await running(t, { entry: app('stream.js'), workers: 1 });
  const connection = await RawConnection.connect(sluice.port);
  connection.send(`${bytesOf('/ws', upgrade)}early`);
  await connection.response();
  await connection.untilBytes('early');
  connection.close();
});

void test('I1: an event stream leaves the slot and arrives event by event', async (t) => {
  const sluice = await running(t, { entry: app('stream.js'), workers: 1 });
  const connections = await Promise.all([1, 2, 3].map(() => sent(sluice, '/events')));
  for (const connection of connections) await connection.untilBytes('id: 3\n');
  await holdsNoSlot(sluice, 3);
  for (const connection of connections) connection.close();
  await statusWhen(sluice, ({ streams }) => streams === 0, 'the end of the streams');
});

void test('I6: streams over the limit of a worker are refused, and use no memory afterwards', async (t) => {
  const env = bounds({ streams_per_worker_max: 2 });
  const sluice = await running(t, { entry: app('stream.js'), workers: 1, env });
  for (let round = 0; round < 2; round++) {
    const held = [await sent(sluice, '/ws', upgrade), await sent(sluice, '/events')];
    for (const connection of held) assert.ok([101, 200].includes(await firstStatus(connection)));
    for (const [target, headers] of [
      ['/ws', upgrade],
      ['/ws', upgrade],
      ['/events', ''],
    ] as const) {
      const refused = await sent(sluice, target, headers);
      assertRefused(await refused.response(), 503, 'SLU-STREAMS-FULL');
      refused.close();
    }
    await holdsNoSlot(sluice, 2);
    for (const connection of held) connection.close();
    const after = await statusWhen(sluice, ({ streams }) => streams === 0, 'the end of the streams');
    assert.equal(slotsHeld(after), 0);
  }
});

async function firstStatus(connection: { untilBytes: (mark: string) => Promise<Buffer> }): Promise<number> {
  return Number((await connection.untilBytes('\r\n\r\n')).toString('latin1').slice(9, 12));
}

void test('a client that leaves before its upgrade is answered leaves no stream behind', async (t) => {
  const sluice = await running(t, { entry: app('stream.js'), workers: 1 });
  const blocker = await sent(sluice, '/sleep?ms=300');
  await statusWhen(sluice, ({ workers }) => workers[0]?.state === 'busy', 'a busy worker');
  await blocker.response();
  for (let index = 0; index < 30; index++) (await sent(sluice, '/ws', upgrade)).reset();
  await statusWhen(
    sluice,
    (now) => now.streams === 0 && now.connections === 1 && slotsHeld(now) === 0,
    'nothing left',
  );
  await allReady(sluice, 1);
  blocker.close();
});

void test('a stream on which only the worker talks is not idle', async (t) => {
  const sluice = await running(t, {
    entry: ownApp('unusual.js'),
    workers: 1,
    env: { SLUICE_STREAMS_IDLE_TIMEOUT_MS: '400' },
  });
  const connection = await sent(sluice, '/', upgrade);
  assert.equal((await connection.response()).status, 101);
  // Long after the client's own silence has passed the limit, and the grace after it.
  const until = performance.now() + 7_000;
  while (performance.now() < until) await connection.untilBytes('tick', 1_000);
  connection.close();
});

void test('a stream that carries nothing for too long is ended, upgraded or of events', async (t) => {
  const env = { SLUICE_STREAMS_IDLE_TIMEOUT_MS: '400' };
  const sluice = await running(t, { entry: ownApp('quiet-streams.js'), workers: 1, env });
  const streams = [await sent(sluice, '/ws', upgrade), await sent(sluice, '/events')];
  for (const stream of streams) assert.ok([101, 200].includes(await firstStatus(stream)));
  // An event stream may end in order and keep its connection, or be cut; what counts is that it ends.
  for (const stream of streams) {
    await eventually(() => stream.closed || stream.received.includes('0\r\n\r\n'), {
      what: 'the end of a silent stream',
    });
  }
  await statusWhen(sluice, (now) => now.streams === 0, 'the end of the streams');
  for (const target of ['/ws', '/events']) {
    const record = await recordOf(sluice, target);
    assert.deepEqual([record['error'], record['outcome']], ['SLU-STREAM-IDLE', 'stream_idle']);
    assert.ok(Number(record['service_ms']) < 350, 'its service ended where it left the slot');
    assert.ok(Number(record['total_ms']) >= 400);
  }
});

void test('a stream ends when its worker is killed', async (t) => {
  const sluice = await running(t, { entry: app('stream.js'), workers: 1 });
  const streams = [await sent(sluice, '/ws', upgrade), await sent(sluice, '/events')];
  for (const stream of streams) await firstStatus(stream);
  const { workers } = await sluice.status();
  process.kill(Number(workers[0]?.pid), 'SIGKILL');
  for (const stream of streams) await stream.untilClosed();
  await statusWhen(sluice, (now) => now.streams === 0, 'the end of the streams');
});

void test('a client that closes an event stream on which nothing is said is noticed', async (t) => {
  const sluice = await running(t, { entry: ownApp('corners.js'), workers: 1, env: quick });
  const left = ['closed', 'half-closed', 'reset'] as const;
  const connections = await Promise.all(left.map((name) => sent(sluice, `/events?name=${name}`)));
  for (const connection of connections) await connection.untilBytes('data: only');
  await holdsNoSlot(sluice, 3, '/');
  const [closed, halfClosed, reset] = connections;
  closed?.close();
  halfClosed?.end();
  reset?.reset();
  const after = await statusWhen(sluice, (now) => now.streams === 0 && now.connections === 0, 'nothing left');
  assert.equal(after.workers[0]?.restarts_total, 0);
  for (const name of left) {
    await eventually(() => sluice.stdout.includes(`closed ${name}`), { what: `the app's close of ${name}` });
    // To leave is how a client ends an event stream: nobody has failed.
    const record = await recordOf(sluice, `/events?name=${name}`);
    assert.deepEqual([record['error'], record['outcome'], record['status']], [null, 'answered', 200]);
  }
});

for (const type of ['Text/Event-Stream', 'text/EVENT-stream; charset=utf-8', '  text/event-stream  ']) {
  void test(`I1: an event stream leaves the slot with Content-Type: ${type}`, async (t) => {
    const sluice = await running(t, { entry: ownApp('corners.js'), workers: 1 });
    const connection = await sent(sluice, `/events?type=${encodeURIComponent(type)}`);
    await connection.untilBytes('data: only');
    await holdsNoSlot(sluice, 1, '/');
    // The worker's own gate has let it go, too.
    assert.equal((await ask(sluice, '/next', { deadlineMs: 2_000 })).status, 200);
    connection.close();
    await statusWhen(sluice, ({ streams }) => streams === 0, 'the end of the stream');
  });
}

void test('I1: an event stream with a late first event leaves the slot earlier, and is not cut off', async (t) => {
  const sluice = await running(t, { entry: ownApp('corners.js'), workers: 1 });
  const connection = await sent(sluice, '/late-events?after=1500');
  await connection.untilBytes('text/event-stream');
  assert.doesNotMatch(connection.received.toString(), /data: late/);
  await holdsNoSlot(sluice, 1, '/');
  await connection.untilBytes('data: late');
  connection.close();
  await statusWhen(sluice, ({ streams }) => streams === 0, 'the end of the stream');
});

void test('what an app puts around the write() of an upgraded socket stays there', async (t) => {
  const sluice = await running(t, { entry: ownApp('quiet-streams.js'), workers: 1 });
  const connection = await sent(sluice, '/counted', upgrade);
  await connection.untilBytes('written 2 times');
  connection.close();
});
