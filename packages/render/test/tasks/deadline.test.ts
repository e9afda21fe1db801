// Time limits do not call late what has come while the process was busy.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { Worker } from 'node:worker_threads';
import { test } from 'node:test';
import { startDeadline, withDeadline } from '../../src/tasks/deadline.js';

void test('work that does not end is late', async () => {
  const work = new Promise<string>(() => {});
  await assert.rejects(
    withDeadline(work, 1, () => new Error('late')),
    /late/,
  );
});

void test('work that ends in time gives its result, and its error', async () => {
  assert.equal(await withDeadline(Promise.resolve(7), 60_000, () => new Error('late')), 7);
  const failing = Promise.reject(new Error('its own'));
  await assert.rejects(
    withDeadline(failing, 60_000, () => new Error('late')),
    /its own/,
  );
});

void test('a cleared deadline is never late, even after its timer', async () => {
  let isLate = false;
  const deadline = startDeadline(0, () => {
    isLate = true;
  });
  await new Promise<void>((resolve) => {
    // After the timer of the deadline, before its turns are over.
    setTimeout(() => {
      deadline.clear();
      resolve();
    }, 0);
  });
  await new Promise<void>((resolve) => {
    startDeadline(1, resolve);
  });
  assert.equal(isLate, false);
});

/** A server in a thread of its own, which answers while this thread is busy. */
const SERVER = `
  const http = require('node:http');
  const { parentPort, workerData } = require('node:worker_threads');
  http.createServer((request, response) => {
    response.end('reply');
    response.on('close', () => {});
    Atomics.store(workerData, 0, 1);
    Atomics.notify(workerData, 0);
  }).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port); });
`;

void test('a reply that came while the process was busy is not late', async (t) => {
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(SERVER, { eval: true, workerData: answered });
  t.after(() => worker.terminate());
  const [port] = (await once(worker, 'message')) as [number];
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const reply = (): Promise<string> =>
    new Promise((resolve, reject) => {
      http
        .get({ port, host: '127.0.0.1', agent }, (response) => {
          response.setEncoding('utf8').on('data', resolve);
        })
        .on('error', reject);
    });
  await reply(); // Opens the connection.
  for (let trial = 0; trial < 20; trial += 1) {
    Atomics.store(answered, 0, 0);
    const waiting = withDeadline(reply(), 20, () => new Error(`late in trial ${trial}`));
    // The request leaves, and then this thread does nothing else until long after the reply.
    await new Promise((resolve) => setImmediate(resolve));
    assert.notEqual(Atomics.wait(answered, 0, 0, 10_000), 'timed-out');
    const until = performance.now() + 25;
    while (performance.now() < until);
    assert.equal(await waiting, 'reply');
  }
});
