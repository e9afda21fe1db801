/** Messages between workers: who gets which, bounds, workers that come, leave, or do not read. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { eventually } from '../../../tests/support/eventually.js';
import { channel } from '../src/api.js';
import { Channel } from '../src/channel/channel.js';
import type { Control } from '../src/control/control.js';

interface Worker {
  readonly channel: Channel;
  readonly said: [message: unknown, from: number][];
  listens(): void;
}

class Workers {
  readonly directory = mkdtempSync(join(tmpdir(), 'slu-channel-'));

  constructor(t: TestContext) {
    t.after(() => rmSync(this.directory, { recursive: true }));
  }

  /** A worker that serves, and takes part. */
  start(worker: number): Worker {
    const started = this.prepare(worker);
    started.channel.on('message', (message, from) => void started.said.push([message, from]));
    started.listens();
    return started;
  }

  prepare(worker: number): Worker {
    let open = (): void => {};
    const control = { onOpen: (opener: () => void) => (open = opener) } as unknown as Control;
    const own = new Channel({ worker, socketPath: join(this.directory, `${worker}.sock`) }, control);
    return { channel: own, said: [], listens: () => open() };
  }
}

const meeting = (workers: readonly Worker[]): Promise<true> =>
  eventually(
    () => workers.every(({ channel }) => channel.workers.length === workers.length - 1) || undefined,
  );

void test('a message goes to all others, or to one, in the order of its sender', async (t) => {
  const workers = new Workers(t);
  const [one, two, three] = [workers.start(1), workers.start(2), workers.start(3)];
  await meeting([one, two, three]);
  assert.deepEqual([one.channel.worker, one.channel.workers], [1, [2, 3]]);
  assert.deepEqual(two.channel.broadcast({ clear: 'prices', lines: 'a\nb' }), []);
  for (let at = 0; at < 100; at += 1) assert.equal(two.channel.send(3, at), true);
  assert.equal(two.channel.send(2, 'itself'), false);
  assert.equal(two.channel.send(9, 'nobody'), false);
  await eventually(() => three.said.length === 101 || undefined);
  const first = [{ clear: 'prices', lines: 'a\nb' }, 2];
  assert.deepEqual(three.said, [first, ...Array.from({ length: 100 }, (_, at) => [at, 2])]);
  assert.deepEqual([one.said, two.said], [[first], []]);
});

void test('messages sent before a worker listens go out when it does, 100 of them', async (t) => {
  const workers = new Workers(t);
  const one = workers.start(1);
  const two = workers.prepare(2);
  for (let at = 0; at < 99; at += 1) two.channel.broadcast(at);
  assert.equal(two.channel.send(1, 'last'), true);
  assert.equal(two.channel.send(1, 'one too many'), false);
  assert.throws(() => two.channel.broadcast('one too many'), /100 messages wait until this worker listens/);
  two.listens();
  await eventually(() => one.said.length === 100 || undefined);
  assert.deepEqual(one.said.at(-1), ['last', 2]);
});

void test('a worker that leaves is no other any more, and one that comes is', async (t) => {
  const workers = new Workers(t);
  const one = workers.start(1);
  const path = join(workers.directory, '7.channel');
  const killed = createServer();
  killed.listen({ path });
  const hears: unknown[] = [];
  killed.on('connection', (socket) => {
    socket.on('data', (data) => void hears.push(String(data)));
    socket.on('close', () => hears.push('closed'));
    killed.once('leave', () => socket.destroy());
  });
  const two = workers.start(2);
  await eventually(() => hears.length > 0 || undefined);
  assert.deepEqual(two.channel.workers, [1, 7]);
  // A worker that is killed leaves its socket behind.
  renameSync(path, `${path}.aside`);
  killed.close();
  renameSync(`${path}.aside`, path);
  killed.emit('leave');
  await eventually(() => two.channel.workers.length === 1 || undefined);
  const three = workers.start(3);
  await meeting([one, two, three]);
  three.channel.broadcast('come');
  await eventually(() => (one.said.length === 1 && two.said.length === 1) || undefined);
});

void test('a worker that does not read misses what is over 4 MiB, and the others miss nothing', async (t) => {
  const workers = new Workers(t);
  const [one, two] = [workers.start(1), workers.start(2)];
  const stuck = createServer({ pauseOnConnect: true }, (socket) => t.after(() => socket.destroy()));
  stuck.listen({ path: join(workers.directory, '5.channel') });
  t.after(() => stuck.close());
  const three = workers.start(3);
  await eventually(() => three.channel.workers.length === 3 || undefined);
  const text = 'x'.repeat(1000_000);
  const missed: number[] = [];
  for (let at = 0; at < 20; at += 1) {
    missed.push(...three.channel.broadcast({ at, text }));
    await eventually(() => (one.said.length > at && two.said.length > at) || undefined);
  }
  assert.ok(missed.length >= 10 && missed.length < 20, `${missed.length} of 20`);
  assert.deepEqual([...new Set(missed)], [5]);
  assert.deepEqual(
    one.said.map(([message]) => (message as { at: number }).at),
    Array.from({ length: 20 }, (_, at) => at),
  );
});

void test('values that cannot be sent are refused in words', async (t) => {
  const workers = new Workers(t);
  const [one, two] = [workers.start(1), workers.start(2)];
  await meeting([one, two]);
  assert.throws(() => one.channel.broadcast(undefined), /JSON can represent/);
  assert.throws(() => one.channel.send(2, () => {}), TypeError);
  assert.throws(() => one.channel.send(2, 1n), TypeError);
  assert.throws(
    () => one.channel.broadcast('x'.repeat(1024 * 1024)),
    /1048578 characters as JSON, 1048576 at most/,
  );
  one.channel.send(2, 'next');
  await eventually(() => two.said.length === 1 || undefined);
});

void test('broken lines are no messages, and their sender is left alone', async (t) => {
  const workers = new Workers(t);
  const one = workers.start(1);
  const foreign = connect({ path: join(workers.directory, '1.channel') });
  t.after(() => foreign.destroy());
  foreign.on('error', () => {});
  foreign.write(
    '{"message":"before hello"}\nnonsense\n\n5\n{"worker":"8"}\n{"worker":8}\n{"worker":9}\n[]\n{"message":1}\n',
  );
  await eventually(() => one.said.length === 1 || undefined);
  assert.deepEqual(one.said, [[1, 8]]);
  foreign.write('x'.repeat(1_100_000));
  await eventually(() => foreign.destroyed || undefined);
});

void test('listeners run in no async context of whoever used the channel first', async (t) => {
  const workers = new Workers(t);
  const context = new AsyncLocalStorage<string>();
  const one = workers.start(1);
  const two = workers.prepare(2);
  const seen: (string | undefined)[] = [];
  two.listens();
  context.run('request', () => two.channel.on('message', () => void seen.push(context.getStore())));
  await meeting([one, two]);
  one.channel.broadcast('hello');
  await eventually(() => seen.length === 1 || undefined);
  assert.deepEqual(seen, [undefined]);
});

void test('without Sluice there is nobody else', () => {
  channel.on('message', () => assert.fail());
  assert.deepEqual([channel.worker, channel.workers, channel.broadcast(1)], [undefined, [], []]);
  assert.equal(channel.send(1, 'nobody'), false);
});
