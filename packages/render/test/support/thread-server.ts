/** A server in another thread, which answers while the test's own thread is busy. */
import type { TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { eventually } from '../../../../tests/support/eventually.js';

const CODE = `
const { createServer } = require('node:http');
const { parentPort, workerData } = require('node:worker_threads');
const { counts, answer } = workerData;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    Atomics.add(counts, 0, 1);
    Atomics.wait(counts, 1, 0);
    response.end(answer);
    response.on('close', () => Atomics.add(counts, 2, 1));
  });
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

export interface ThreadServer {
  readonly origin: string;
  /**
   * Starts what asks, and then holds this thread up until the answer has been sent and `ms` milliseconds are over: a timer
   * of so many milliseconds is due before the answer is read.
   */
  askWhileBusy<T>(ask: () => Promise<T>, ms: number): Promise<T>;
}

export async function threadServer(t: TestContext, answer: string): Promise<ThreadServer> {
  const counts = new Int32Array(new SharedArrayBuffer(12));
  const worker = new Worker(CODE, { eval: true, workerData: { counts, answer } });
  t.after(() => worker.terminate());
  const port = await new Promise((resolve) => worker.once('message', resolve));
  return {
    origin: `http://127.0.0.1:${String(port)}`,
    async askWhileBusy(ask, ms) {
      // A first answer leaves a connection, so that the second one needs no more turns than one.
      Atomics.store(counts, 1, 1);
      await ask();
      Atomics.store(counts, 1, 0);
      const asked = Atomics.load(counts, 0);
      const sent = Atomics.load(counts, 2);
      const until_ms = performance.now() + ms;
      const asking = ask();
      await eventually(() => Atomics.load(counts, 0) > asked, { pauseMs: 1 });
      // In this phase of the event loop, timers come before sockets.
      await new Promise<void>((resolve) => {
        setImmediate(() => {
          Atomics.store(counts, 1, 1);
          Atomics.notify(counts, 1);
          while (Atomics.load(counts, 2) === sent || performance.now() < until_ms);
          resolve();
        });
      });
      return asking;
    },
  };
}
