import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { FakeGateway, type Line } from './fake-gateway.js';

const serve = (options = {}) => FakeGateway.serve('gate.cjs', { takesAhead: true, ...options });
const doneIds = (lines: readonly Line[]): Line[] =>
  lines.filter(({ type }) => type === 'done').flatMap((line) => line['requests'] as Line[]);

test('the worker says whether requests may be handed over ahead of time', async () => {
  for (const takesAhead of [true, false]) {
    const gateway = await FakeGateway.serve('gate.cjs', { takesAhead });
    try {
      assert.equal((await gateway.line('hello'))['takes_ahead'], takesAhead);
    } finally {
      await gateway.stop();
    }
  }
});

test('I1_requests_handed_ahead_wait_for_the_previous_one_and_are_served_in_turn', async () => {
  const gateway = await serve();
  try {
    const asks = [gateway.ask({ path: '/async?ms=20' })];
    for (let index = 0; index < 40; index++) {
      const path = index % 3 === 0 ? '/sync?ms=2' : '/async?ms=2';
      asks.push(gateway.hand({ path, method: 'POST', body: 'x'.repeat(index * 100) }).answer);
    }
    for (const { status } of await Promise.all(asks)) assert.equal(status, 200);
    const last = await gateway.askJson();
    assert.deepEqual([last['overlaps'], last['served']], [0, 42]);
    assert.deepEqual(gateway.takeBack(), []);
  } finally {
    await gateway.stop();
  }
});

test('what the gateway takes back while the event loop stands still never reaches the app', async () => {
  const gateway = await serve();
  try {
    const slow = gateway.ask({ path: '/sync?ms=300' });
    await pause(50);
    const handed = gateway.hand({ path: '/next', method: 'POST', body: 'x' });
    // Its bytes are there, and the worker cannot have looked at them.
    await pause(50);
    assert.deepEqual(gateway.takeBack(), [handed.number]);
    await assert.rejects(handed.answer, { code: 'ECONNRESET' });
    assert.equal((await slow).status, 200);
    assert.equal((await gateway.askJson())['served'], 2);
    assert.ok(!gateway.output.includes('nextStarted'));
  } finally {
    await gateway.stop();
  }
});

test('what the gateway takes back while it waits in the gate never reaches the app', async () => {
  const gateway = await serve();
  try {
    const slow = gateway.ask({ path: '/async?ms=200' });
    await pause(50);
    const handed = gateway.hand({ path: '/next' });
    const kept = gateway.hand({ path: '/async' });
    await pause(50);
    assert.deepEqual(gateway.takeBack(), [handed.number, kept.number]);
    await assert.rejects(handed.answer, { code: 'ECONNRESET' });
    await assert.rejects(kept.answer, { code: 'ECONNRESET' });
    assert.equal((await slow).status, 200);
    // And the gate is free for the next ones.
    assert.equal((await gateway.hand({ path: '/async' }).answer).status, 200);
    assert.equal((await gateway.askJson())['served'], 3);
    await gateway.until('3 done', () => doneIds(gateway.lines).length >= 3);
    const reported = doneIds(gateway.lines).map(({ id }) => id);
    assert.ok(!reported.includes(handed.id) && !reported.includes(kept.id), 'whose end is not reported');
  } finally {
    await gateway.stop();
  }
});

test('old bytes of a request that was taken back do not pass for the same request handed over again', async () => {
  const gateway = await serve();
  try {
    const slow = gateway.ask({ path: '/sync?ms=200' });
    await pause(50);
    const old = gateway.hand({ path: '/next' });
    await pause(20);
    assert.deepEqual(gateway.takeBack(), [old.number]);
    const { number, label } = gateway.number();
    const again = gateway.ask({ path: '/async', label: label.replace(/^id=\d+/, `id=${old.id}`) });
    await assert.rejects(old.answer, { code: 'ECONNRESET' });
    assert.equal((await again).status, 200);
    assert.equal((await slow).status, 200);
    assert.deepEqual(gateway.takeBack(), [], `nor is ${number} left`);
    assert.ok(!gateway.output.includes('nextStarted'));
  } finally {
    await gateway.stop();
  }
});

test('several connections may come in another order than the numbers in the pipe', async () => {
  const gateway = await serve();
  try {
    const first = gateway.raw();
    const numbers = [gateway.hand(), gateway.hand()];
    await Promise.all(numbers.map(({ answer }) => answer));
    // The number is in the pipe, and its request comes after the next one's.
    const { id, label } = gateway.number();
    const second = gateway.hand();
    assert.equal((await second.answer).status, 200);
    assert.deepEqual(gateway.takeBack(), [], 'the worker has taken both numbers');
    first.write(`GET / HTTP/1.1\r\nhost: a\r\nx-sluice-request: ${label}\r\n\r\n`);
    await gateway.until('done', () => doneIds(gateway.lines).some((line) => line['id'] === id));
    assert.equal((await gateway.askJson())['served'], 4 + 1);
  } finally {
    await gateway.stop();
  }
});

test('a handed request behind a response that is sent and not ended goes back unseen', async () => {
  const gateway = await serve();
  try {
    const late = gateway.ask({ path: '/late-end?ms=400' });
    const handed = gateway.hand({ path: '/next' });
    const busy = await gateway.line('busy');
    assert.equal(busy['id'], handed.id);
    assert.deepEqual(gateway.takeBack(), [], 'its number is out of the pipe');
    assert.equal((await late).body, 'whole');
    await gateway.until('done', () => doneIds(gateway.lines).length === 1);
    assert.equal((await gateway.askJson())['overlaps'], 0);
    assert.ok(!gateway.output.includes('nextStarted'));
    handed.answer.catch(() => {});
  } finally {
    await gateway.stop();
  }
});

test('a handed request whose client leaves while it waits never reaches the app, nor does its number stay', async () => {
  const gateway = await serve();
  try {
    const slow = gateway.ask({ path: '/async?ms=150' });
    await pause(30);
    const { id, label } = gateway.number();
    const gone = gateway.raw();
    gone.write(`GET /next HTTP/1.1\r\nhost: a\r\nx-sluice-request: ${label}\r\n\r\n`);
    await pause(30);
    gone.destroy();
    await slow;
    const done = await gateway.until('done', () => doneIds(gateway.lines).find((line) => line['id'] === id));
    assert.equal(done['left'], 'abandoned');
    assert.deepEqual(gateway.takeBack(), []);
    assert.equal((await gateway.askJson())['served'], 2);
  } finally {
    await gateway.stop();
  }
});

test('a worker that dies leaves the numbers of what it had not begun', async () => {
  const gateway = await serve();
  try {
    gateway.ask({ path: '/sync?ms=2000' }).catch(() => {});
    await pause(100);
    const handed = gateway.hand({ path: '/next', method: 'POST', body: 'x' });
    handed.answer.catch(() => {});
    await pause(50);
    gateway.child?.kill('SIGKILL');
    await gateway.exited();
    assert.deepEqual(gateway.takeBack(), [handed.number]);
  } finally {
    await gateway.stop();
  }
});

test('with several places a handed request is begun at once', async () => {
  const gateway = await serve({ concurrency: 50 });
  try {
    let isOver = false;
    const slow = gateway.ask({ path: '/async?ms=1500' }).finally(() => (isOver = true));
    await pause(30);
    assert.equal((await gateway.hand({ path: '/async' }).answer).status, 200);
    assert.ok(!isOver, 'it waited for the slow one');
    assert.equal((await slow).status, 200);
  } finally {
    await gateway.stop();
  }
});
