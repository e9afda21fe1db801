/** Whose CPU time it is, in this process: requests here are functions, and what they use is known. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { type Cost, cpuUs, OwnCpu, UNMEASURED, type Stay } from '../src/cpu/own-cpu.js';
import { Windows } from '../src/cpu/own-cpu-windows.js';

/** Uses so much CPU time. */
function burn(ms: number): void {
  const end_us = cpuUs() + ms * 1000;
  let junk = 0;
  while (cpuUs() < end_us) for (let step = 0; step < 10_000; step += 1) junk = (junk * 31 + step) | 0;
}

// Compiled, so that the compiler's threads do not count below.
burn(200);

/** Generous, as other threads of this process count on Node 20. */
function about(cost: Cost | undefined, ms: number, what: string): void {
  assert.equal(cost?.isShared, false, `${what} is not known`);
  const cost_ms = cost.cpu_us / 1000;
  assert.ok(cost_ms > ms * 0.75 - 1 && cost_ms < ms * 1.4 + 4, `${what}: ${cost_ms} instead of ${ms} ms`);
}

type Work = () => Promise<void>;

/** On a busy machine a compiler's thread may take its time in the middle of a measurement; it does not each time. */
async function onceOfThree(measure: Work): Promise<void> {
  for (let left = 2; left > 0; left -= 1) {
    try {
      return await measure();
    } catch {
      // Again.
    }
  }
  await measure();
}

/** One request, from when it comes until it is reported. */
async function request(cpu: OwnCpu, work: (stay: Stay) => Promise<void>): Promise<Cost> {
  const stay = cpu.enter(performance.now());
  let done = Promise.resolve();
  cpu.run(stay, () => {
    done = work(stay);
  });
  await done;
  cpu.ends(stay);
  await turn();
  cpu.leave(stay);
  await turn();
  return cpu.cost(stay);
}

/** A window, which opens when two share the worker and the first of them has left. */
async function inWindow(): Promise<OwnCpu> {
  // Open for long, as a busy machine takes its time.
  const cpu = new OwnCpu(true, new Windows(60_000));
  const first = cpu.enter(performance.now());
  const second = cpu.enter(performance.now());
  cpu.leave(first);
  cpu.leave(second);
  // Before so much was used, it is not known how much of it is nobody's.
  await request(cpu, waiting(60));
  return cpu;
}

async function together(works: readonly Work[]): Promise<Cost[]> {
  const cpu = await inWindow();
  return Promise.all(works.map((work) => request(cpu, work)));
}

/** Burns between waits of every kind. */
function waiting(ms: number): Work {
  return async () => {
    burn(ms / 5);
    await Promise.resolve();
    burn(ms / 5);
    await pause(3);
    burn(ms / 5);
    await turn();
    burn(ms / 5);
    await new Promise<void>((done) => process.nextTick(done));
    burn(ms / 5);
  };
}

void test('a request that is alone used what the process used', async () => {
  const cpu = new OwnCpu();
  const before_us = cpuUs();
  const { cpu_us, isShared } = await request(cpu, waiting(20));
  const used_us = cpuUs() - before_us;
  assert.ok(!isShared && cpu_us >= 19_000 && cpu_us <= used_us, `${cpu_us} of ${used_us} µs`);
});

void test('one that comes when the other has ended is alone as well', async () => {
  const cpu = new OwnCpu();
  const [first, second] = [cpu.enter(performance.now()), performance.now()];
  burn(5);
  cpu.ends(first);
  const next = cpu.enter(second);
  burn(10);
  cpu.leave(first);
  cpu.leave(next);
  about(cpu.cost(first), 5, 'the first');
  about(cpu.cost(next), 10, 'the next');
});

void test('of those that share the worker while nothing is measured it is not known', async () => {
  const cpu = new OwnCpu();
  const costs = await Promise.all([request(cpu, waiting(5)), request(cpu, waiting(5))]);
  assert.deepEqual(
    costs.map(({ isShared }) => isShared),
    [true, true],
  );
});

void test('each bears its own across awaits, timers and turns, however many there are', async () => {
  for (const count of [2, 20]) {
    await onceOfThree(async () => {
      const works = Array.from({ length: count }, (_, at) => waiting(at === 0 ? 30 : 3));
      const [heavy, ...light] = await together(works);
      about(heavy, 30, 'the heavy one');
      const mean_us = light.reduce((sum, { cpu_us }) => sum + cpu_us, 0) / light.length;
      about(
        { cpu_us: mean_us, isShared: light.some(({ isShared }) => isShared) },
        3,
        `the light ones of ${count}`,
      );
    });
  }
});

/** A connection that was opened before any request, and answers what is sent over it. */
async function pooled(t: TestContext): Promise<(answers: (line: string) => void, line: string) => void> {
  const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  t.after(() => {
    socket.destroy();
    server.close();
  });
  const waiting: ((line: string) => void)[] = [];
  socket.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').slice(0, -1)) waiting.shift()?.(line);
  });
  return (answers, line) => {
    waiting.push(answers);
    socket.write(`${line}\n`);
  };
}

void test('what a pooled connection reads is theirs whose promise it resolves', async (t) => {
  const ask = await pooled(t);
  const query = (parse_ms: number): Promise<void> =>
    new Promise((done) => {
      ask(() => {
        burn(parse_ms);
        done();
      }, 'rows');
    });
  const asking = (ms: number) => async (): Promise<void> => {
    burn(ms / 4);
    await query(ms / 4);
    burn(ms / 2);
  };
  const [heavy, light] = await together([asking(40), waiting(4), waiting(4)]);
  about(heavy, 40, 'the heavy one');
  about(light, 4, 'the light one');
});

void test('answers that come in one piece go on in their own requests', async (t) => {
  const ask = await pooled(t);
  const piped = (ms: number) => async (): Promise<void> => {
    await new Promise<void>((done) => ask(() => done(), 'x'));
    burn(ms);
  };
  const costs = await together([piped(30), piped(3), piped(10)]);
  about(costs[0], 30, 'the first');
  about(costs[1], 3, 'the second');
  about(costs[2], 10, 'the third');
});

void test('a run without a context is theirs whose answer it writes', async (t) => {
  const ask = await pooled(t);
  const cpu = await inWindow();
  const byCallback = (ms: number): Promise<Cost> => {
    const work = (stay: Stay): Promise<void> =>
      new Promise((done) => {
        burn(10);
        ask(() => {
          burn(ms);
          cpu.writes(stay);
          burn(1);
          // Not a promise's doing: this ends in the callback, as an app without promises does.
          setTimeout(done, 1);
        }, 'rows');
      });
    return request(cpu, work);
  };
  const costs = await Promise.all([byCallback(30), byCallback(3)]);
  about(costs[0], 41, 'the first');
  about(costs[1], 14, 'the second');
});

void test('a run without a context is not theirs whose answer the next callback writes', async (t) => {
  const [ask, askToo] = [await pooled(t), await pooled(t)];
  const cpu = await inWindow();
  const writes = (stay: Stay): Promise<void> =>
    new Promise((done) => {
      burn(5);
      askToo(() => {
        burn(3);
        cpu.writes(stay);
        setTimeout(done, 1);
      }, 'rows');
    });
  const computes = (): Promise<void> =>
    new Promise((done) => {
      // What is nobody's has to be little, or nothing is told.
      burn(400);
      ask(() => {
        burn(60);
        setTimeout(done, 1);
      }, 'rows');
      // Both answers are there when the loop turns.
      setImmediate(() => burn(30));
    });
  const [, light] = await Promise.all([request(cpu, computes), request(cpu, writes)]);
  about(light, 8 + 60 / 2, 'the one that writes, with its part of what is nobody’s');
});

void test('where much is nobody’s, nothing is told', async (t) => {
  const ask = await pooled(t);
  const cpu = await inWindow();
  const lost = (): Promise<void> =>
    new Promise((done) => {
      ask(() => {
        burn(20);
        setTimeout(done, 1);
      }, 'rows');
    });
  const costs = await Promise.all([request(cpu, lost), request(cpu, waiting(4))]);
  assert.deepEqual(
    costs.map(({ isShared }) => isShared),
    [true, true],
  );
});

void test('contexts of the app’s own stay as they are, and within them each bears its own', async () => {
  const users = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const of = (name: string, ms: number) => (): Promise<void> =>
    users.run(name, async () => {
      await waiting(ms)();
      seen.push(users.getStore());
    });
  const [anna, ben] = await together([of('anna', 20), of('ben', 4)]);
  about(anna, 20, 'anna');
  about(ben, 4, 'ben');
  assert.deepEqual(new Set(seen), new Set(['anna', 'ben']));
});

void test('a callback of one within a run of another is its own', async () => {
  let resource: AsyncResource | undefined;
  let isReleased = false;
  const waits = async (): Promise<void> => {
    burn(5);
    resource = new AsyncResource('WAITS');
    while (!isReleased) await pause(1);
  };
  const releases = async (): Promise<void> => {
    burn(5);
    await pause(1);
    resource?.runInAsyncScope(() => burn(30));
    isReleased = true;
    burn(5);
  };
  const [waiter, releaser] = await together([waits, releases]);
  about(waiter, 35, 'the waiting one');
  about(releaser, 10, 'the other');
});

void test('an error of the app goes its way, and its time is its own', async () => {
  const cpu = await inWindow();
  const failing = cpu.enter(performance.now());
  const other = request(cpu, waiting(4));
  const fail = (): void => {
    burn(20);
    throw new Error('of the app');
  };
  assert.throws(() => cpu.run(failing, fail), /of the app/);
  about(await other, 4, 'the other');
  cpu.leave(failing);
  await turn();
  about(cpu.cost(failing), 20, 'the failing one');
});

void test('the collector’s pauses are not theirs whom they hit', async () => {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  const heap = Array.from({ length: 600_000 }, (_, at) => ({ at, text: [at] }));
  const began_ms = performance.now();
  collect();
  const pause_ms = performance.now() - began_ms;
  const cpu = await inWindow();
  const struck = async (): Promise<void> => {
    burn(4);
    await pause(1);
    for (let times = 0; times < 3; times += 1) collect();
  };
  const [light, heavy] = await Promise.all([request(cpu, struck), request(cpu, waiting(60))]);
  assert.ok(heap.length > 0 && !light.isShared && !heavy.isShared);
  // A part of what all use together is everybody's, in proportion to their own: half as much again at most.
  assert.ok(light.cpu_us / 1000 < 12 + pause_ms, `${light.cpu_us} µs with three pauses of ${pause_ms} ms`);
});

/** A request alone, with this weight in its label. */
async function weighted(cpu: OwnCpu, weight: number, work: () => Promise<void> | void): Promise<Cost> {
  const stay = cpu.enter(performance.now(), 'id=1', weight);
  await work();
  cpu.ends(stay);
  await turn();
  cpu.leave(stay);
  return cpu.cost(stay);
}

void test('a request outside the sample of its light class is not measured', async () => {
  const cpu = new OwnCpu();
  assert.equal(await weighted(cpu, 0, () => burn(1)), UNMEASURED);
  const measured = await weighted(cpu, 16, () => burn(3));
  assert.equal(measured.weight, 16);
  about(measured, 3, 'the one in the sample');
});

void test('a request outside the sample that takes long is measured all the same, its waits left out', async () => {
  await onceOfThree(async () => {
    const cpu = new OwnCpu();
    cpuUs();
    burn(5);
    const cost = await weighted(cpu, 0, async () => {
      burn(10);
      await pause(30);
      burn(10);
    });
    assert.equal(cost.weight, 0);
    about(cost, 20, 'the long one');
  });
});

void test('two that share the worker outside the sample are not measured, however long they take', async () => {
  const cpu = new OwnCpu(false);
  const costs = await Promise.all([0, 0].map((weight) => weighted(cpu, weight, waiting(10))));
  assert.deepEqual(costs, [UNMEASURED, UNMEASURED]);
});
