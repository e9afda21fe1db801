/** Work for other threads: results, errors, limits, ends, and whose CPU time it is. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';
import {
  closeOffload,
  configureOffload,
  offload,
  OffloadError,
  type PoolOptions,
  spareThreads,
} from '../dist/offload.js';
import { type Host, hostKey } from '../src/host.js';

const tasks = (name: string): URL => new URL(`fixtures/tasks.mjs#${name}`, import.meta.url);
const burn = tasks('burn');

configureOffload({ threads_max: 2, queue_max: 3 });
after(closeOffload);

interface Failure extends Error {
  readonly code?: unknown;
}

async function failure(run: Promise<unknown>): Promise<Failure> {
  try {
    await run;
  } catch (error) {
    assert.ok(error instanceof Error, String(error));
    return error;
  }
  return assert.fail('it did not fail');
}

void test('a module does its work in another thread', async () => {
  assert.equal(await offload(new URL('fixtures/tasks.mjs', import.meta.url), [21]), 42);
  assert.notEqual(await offload(tasks('where'), []), threadId);
  assert.equal(await offload(new URL('fixtures/tasks.cjs#triple', import.meta.url), [5]), 15);
});

void test('a function does, if it is whole by itself', async () => {
  assert.equal(await offload((one: number, other: number) => one + other, [1, 2]), 3);
  const hashed = await offload(
    async (text: string) => {
      const { createHash } = await import('node:crypto');
      const inner = (): string => createHash('sha256').update(text).digest('hex');
      return inner();
    },
    ['breathe'],
  );
  assert.match(hashed, /^[0-9a-f]{64}$/);
  const outside = 5;
  const error = await failure(offload((value: number) => value + outside, [1]));
  assert.equal(error.name, 'ReferenceError');
  assert.match(error.message, /outside is not defined/);
});

void test('the main thread goes on meanwhile', async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 5);
  await offload(burn, [200]);
  clearInterval(timer);
  assert.ok(turns >= 5, `${turns} turns`);
});

void test('errors keep class name, message, properties and both stacks', async () => {
  const error = await failure(offload(tasks('failDeeply'), ['A7']));
  assert.equal(error.name, 'OrderError');
  assert.equal(error.message, 'order A7 is broken');
  assert.equal(error.code, 'A7');
  assert.deepEqual(Reflect.get(error, 'details'), { lines: [1, 2] });
  assert.equal('close' in error, false);
  const [inThread = '', inCaller = ''] = (error.stack ?? '').split('--- offloaded by ---');
  assert.match(inThread, /failDeeply .*tasks\.mjs:\d+/);
  assert.match(inCaller, /offload\.test\.ts/);
  const later = await failure(offload(tasks('failLater'), []));
  assert.ok(later instanceof TypeError);
  assert.equal((later.cause as Error).message, 'sooner');
});

void test('whatever else is thrown comes out as it is', async () => {
  await assert.rejects(offload(tasks('failWith'), ['words']), (thrown) => thrown === 'words');
  await assert.rejects(offload(tasks('failWith'), [undefined]), (thrown) => thrown === undefined);
});

void test('a result that cannot be copied is an error, and the pool goes on', async () => {
  const error = await failure(offload(tasks('unclonable'), []));
  assert.equal(error.code, 'SLU_OFFLOAD_COPY');
  assert.match(error.message, /the result .* cannot be copied.*plain data/);
  assert.equal(await offload(new URL('fixtures/tasks.mjs', import.meta.url), [1]), 2);
});

void test('a task that ends its thread is an error, and the pool goes on', async () => {
  const error = await failure(offload(tasks('leave'), []));
  assert.equal(error.code, 'SLU_OFFLOAD_THREAD');
  assert.match(error.message, /exited with code: 3/);
  assert.equal(await offload(new URL('fixtures/tasks.mjs', import.meta.url), [1]), 2);
});

void test('tasks that cannot be run are refused in words', async () => {
  const unfit: [unknown, RegExp][] = [
    [tasks('missing'), /exports no function missing; its exports: .*burn/],
    [tasks('text'), /exports no function text/],
    [new URL('fixtures/nothing.mjs', import.meta.url), /nothing\.mjs/],
    [new URL('https://example.test/tasks.mjs'), /not a file: URL/],
    [Math.max, /native/],
    [Date.now.bind(undefined), /native/],
    ['tasks.mjs', /a function or the URL/],
    // oxlint-disable-next-line typescript/unbound-method -- that is the mistake
    [{ method() {} }.method, /method must be written as a function/],
  ];
  for (const [task, words] of unfit) {
    const error = await failure(offload(task as URL, []));
    assert.ok(error instanceof OffloadError, String(error));
    assert.equal(error.code, 'SLU_OFFLOAD_TASK');
    assert.match(error.message, words);
  }
});

void test('arguments that cannot be copied are refused in words', async () => {
  const error = await failure(offload(burn, [() => {}]));
  assert.equal(error.code, 'SLU_OFFLOAD_COPY');
  assert.match(error.message, /the arguments .* cannot be copied.*plain data/);
});

void test('a task ends at its time limit, even one that never looks up', async () => {
  const error = await failure(offload(tasks('forEver'), [], { timeout_ms: 100 }));
  assert.equal(error.code, 'SLU_OFFLOAD_TIMEOUT');
  assert.match(error.message, /no result after 100 ms/);
  await assert.rejects(offload(burn, [1], { timeout_ms: 0 }), RangeError);
  assert.ok(Number(await offload(burn, [1], { timeout_ms: Infinity })) > 0);
});

void test('a task ends with the signal and its reason, running, waiting or not begun', async () => {
  const controller = new AbortController();
  const running = Array.from({ length: 4 }, () =>
    failure(offload(tasks('forEver'), [], { signal: controller.signal })),
  );
  await pause(100);
  controller.abort(new Error('enough'));
  for (const error of await Promise.all(running)) assert.equal(error.message, 'enough');
  const late = await failure(offload(burn, [1], { signal: controller.signal }));
  assert.equal(late.message, 'enough');
});

class Response extends EventEmitter {
  writableFinished = false;
  destroyed = false;
}

void test('a task ends when the client of its response leaves, and not when that was sent', async () => {
  const response = new Response();
  const running = failure(offload(tasks('forEver'), [], { response }));
  await pause(50);
  response.emit('close');
  assert.equal((await running).code, 'SLU_OFFLOAD_LEFT');
  response.destroyed = true;
  assert.equal((await failure(offload(burn, [1], { response }))).code, 'SLU_OFFLOAD_LEFT');

  const sent = Object.assign(new Response(), { writableFinished: true });
  const later = offload(tasks('sleep'), [50], { response: sent });
  sent.emit('close');
  assert.equal(await later, 50);
  assert.equal(sent.listenerCount('close') + response.listenerCount('close'), 0);
});

void test('one task more than may wait is refused with what to do', async () => {
  const controller = new AbortController();
  const all = Array.from({ length: 5 }, () =>
    failure(offload(tasks('forEver'), [], { signal: controller.signal })),
  );
  const refused = await failure(offload(burn, [1]));
  assert.equal(refused.code, 'SLU_OFFLOAD_QUEUE');
  assert.match(refused.message, /2 offloaded tasks run and 3 wait.*configureOffload/);
  controller.abort();
  await Promise.all(all);
  assert.ok(Number(await offload(burn, [1])) > 0, 'there is a place again');
});

void test('buffers can be moved there and back', async () => {
  const buffer = new ArrayBuffer(1000);
  const filled = await offload<(buffer: ArrayBuffer, value: number) => ArrayBuffer>(
    tasks('fill'),
    [buffer, 7],
    {
      transfer: [buffer],
    },
  );
  assert.equal(buffer.byteLength, 0, 'it is gone from here');
  assert.equal(filled.byteLength, 1000);
  assert.equal(new Uint8Array(filled)[999], 7);
});

void test('threads get the environment without what makes a worker of Sluice', async () => {
  process.env['SLUICE_SOCKET'] = '/nowhere.sock';
  await closeOffload();
  const seen = await offload<() => { socket?: string; home?: string }>(tasks('settings'), []);
  delete process.env['SLUICE_SOCKET'];
  assert.equal(seen.socket, undefined);
  assert.equal(seen.home, process.env['HOME']);
});

void test('CPU time of tasks is told to the host once each, of those that were ended too', async () => {
  const charged: number[] = [];
  let begun = 0;
  const offloads = (): ((cpu_us: number) => void) => {
    begun += 1;
    let isOver = false;
    return (cpu_us) => {
      if (!isOver) charged.push(cpu_us);
      isOver = true;
    };
  };
  const host: Host = { somebodyWaits: () => false, offloads };
  Object.defineProperty(globalThis, hostKey, { value: host, configurable: true });
  const cpu_us = (before: NodeJS.CpuUsage): number => {
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  let before = process.cpuUsage();
  await offload(burn, [200]);
  const all_us = cpu_us(before);
  await offload(tasks('sleep'), [100]);
  before = process.cpuUsage();
  await failure(offload(tasks('forEver'), [], { timeout_ms: 300 }));
  const ended_us = cpu_us(before);
  Reflect.deleteProperty(globalThis, hostKey);
  assert.equal(begun, 3);
  assert.equal(charged.length, 3);
  const [burnt_us = 0, slept_us = 0, killed_us = 0] = charged;
  // The process's time has the start of the thread in it as well.
  assert.ok(burnt_us > 0.5 * all_us - 50_000 && burnt_us <= all_us, `${burnt_us} of ${all_us} µs`);
  assert.ok(slept_us < burnt_us / 2, `${slept_us} µs asleep, ${burnt_us} µs at work`);
  if (process.platform === 'linux') {
    assert.ok(killed_us > 0.5 * ended_us - 50_000 && killed_us <= ended_us, `${killed_us} of ${ended_us} µs`);
  }
});

void test('a process gets its part of the CPUs that no worker uses, at least one thread', () => {
  assert.deepEqual(
    [
      [2, 2],
      [8, 8],
      [8, 4],
      [8, 2],
      [16, 3],
      [4, 1],
      [1, 1],
    ].map(([cpus = 1, workers = 1]) => spareThreads(cpus, workers)),
    [1, 1, 1, 3, 4, 3, 1],
  );
});

void test('limits are set before the first task', () => {
  assert.throws(() => configureOffload({ threads_max: 3 }), /call it when the app starts/);
});

void test('a process ends by itself while its threads are idle', () => {
  const code = `import { offload } from '@sluice/breathe/offload';
    console.log(await offload((value) => value + 1, [41]));`;
  const node = process.env['SLUICE_TEST_NODE'] ?? process.execPath;
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const output = execFileSync(node, ['--input-type=module', '-e', code], {
    cwd,
    encoding: 'utf8',
    timeout: 9_000,
  });
  assert.equal(output.trim(), '42');
});

void test('closing lets tasks end that run and wait', async () => {
  const all = Promise.all(Array.from({ length: 4 }, () => offload(tasks('sleep'), [50])));
  await closeOffload();
  assert.deepEqual(await all, [50, 50, 50, 50]);
});

/** A pool of its own for a test. */
async function withPool(limits: PoolOptions, work: () => Promise<void>): Promise<void> {
  await closeOffload();
  configureOffload(limits);
  try {
    await work();
  } finally {
    await closeOffload();
    configureOffload({ threads_max: 2, queue_max: 3, heap_mb_max: Infinity, recycle_tasks: Infinity });
  }
}

const double = new URL('fixtures/tasks.mjs', import.meta.url);

void test('tasks that wait get another thread when the only one is lost or ended', () =>
  withPool({ threads_max: 1, queue_max: 10 }, async () => {
    const lost = failure(offload(tasks('leave'), []));
    const ended = failure(offload(tasks('forEver'), [], { timeout_ms: 300 }));
    const others = Promise.all([1, 2, 3].map((value) => offload(double, [value])));
    assert.equal((await lost).code, 'SLU_OFFLOAD_THREAD');
    assert.equal((await ended).code, 'SLU_OFFLOAD_TIMEOUT');
    assert.deepEqual(await others, [2, 4, 6]);
  }));

/** V8 ends the whole process there (docs/decisions/0070-loops-that-let-others-in.md). */
const endsProcess = Number(process.versions.node.split('.')[0]) >= 24;

void test(
  'a task that needs too much memory says so, and the others lose nothing',
  { skip: endsProcess },
  () =>
    withPool({ threads_max: 2, queue_max: 10, heap_mb_max: 32 }, async () => {
      const beside = offload(tasks('sleep'), [500]);
      const error = failure(offload(tasks('hoard'), []));
      const after = Promise.all([1, 2].map((value) => offload(double, [value])));
      assert.equal((await error).code, 'SLU_OFFLOAD_MEMORY');
      assert.match(
        (await error).message,
        /32 MiB, set by heap_mb_max.*other tasks continue\. .*configureOffload/,
      );
      assert.deepEqual([await beside, await after], [500, [2, 4]]);
    }),
);

void test('a thread is replaced after so many tasks, or above so much heap, and no task is lost', async () => {
  await withPool({ threads_max: 1, queue_max: 20, recycle_tasks: 3 }, async () => {
    const threads = await Promise.all(Array.from({ length: 9 }, () => offload(tasks('where'), [])));
    assert.equal(new Set(threads).size, 3);
  });
  await withPool({ threads_max: 1, queue_max: 20, recycle_heap_mb: 40 }, async () => {
    const small = await offload(tasks('keep'), [1]);
    assert.equal(await offload(tasks('keep'), [60]), small);
    assert.notEqual(await offload(tasks('keep'), [1]), small);
  });
});

void test('a task runs again after errors that the caller names, and after the loss of its thread', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-offload-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = (name: string): string => join(folder, name);
  const attempts = (name: string): number => readFileSync(file(name), 'utf8').length / 2;
  const retry = { times: 2, on: ['EBUSY'] };

  assert.equal(await offload(tasks('failUntil'), [file('busy'), 3, 'EBUSY'], { retry }), 'done');
  assert.equal(attempts('busy'), 3);
  assert.equal(
    (await failure(offload(tasks('failUntil'), [file('more'), 4, 'EBUSY'], { retry }))).message,
    'not yet',
  );
  assert.equal(attempts('more'), 3);
  assert.equal(
    (await failure(offload(tasks('failUntil'), [file('other'), 3, 'ENOENT'], { retry }))).code,
    'ENOENT',
  );
  assert.equal(attempts('other'), 1);
  assert.equal((await failure(offload(tasks('failUntil'), [file('none'), 2, 'EBUSY']))).code, 'EBUSY');
  assert.equal(attempts('none'), 1);
  assert.equal(await offload(tasks('leaveUntil'), [file('lost'), 2], { retry: { times: 1 } }), 'done');
  assert.equal(attempts('lost'), 2);
});

void test('an end is no error to retry, and moved arguments cannot be sent again', async () => {
  const retry = { times: 10, on: ['SLU_OFFLOAD_TIMEOUT', 'Error'] };
  const error = await failure(offload(tasks('forEver'), [], { timeout_ms: 200, retry }));
  assert.equal(error.code, 'SLU_OFFLOAD_TIMEOUT');
  await assert.rejects(offload(burn, [1], { retry: { times: 11 } }), /retry\.times is 11; .* from 1 to 10/);
  const transfer = [new ArrayBuffer(8)];
  await assert.rejects(offload(burn, [1], { retry, transfer }), /transfer cannot be retried/);
  assert.equal(transfer[0]?.byteLength, 8);
});

void test('what a task left behind may fail without a task, and ends neither process nor pool', async () => {
  await offload(tasks('failAside'), []);
  await pause(200);
  assert.equal(await offload(double, [21]), 42);
});

void test('what the modules of a task say to their parent settles no task', () =>
  withPool({ threads_max: 1, queue_max: 10 }, async () => {
    const speakers = [
      { progress: 1 },
      'ready',
      null,
      undefined,
      { number: 1, result: 'forged', heap_bytes: 0 },
    ];
    const results = await Promise.all([
      ...speakers.map((words, at) => offload(tasks('speak'), [words, at])),
      offload(double, [21]),
    ]);
    assert.deepEqual(results, [0, 1, 2, 3, 4, 42]);
    await offload(tasks('speakLater'), ['late']);
    assert.equal(await offload(tasks('afterSpeech'), ['real']), 'real');
  }));

void test('modules that listen to their parent hear no tasks, and find no data of ours', () =>
  withPool({ threads_max: 1, queue_max: 10 }, async () => {
    await offload(tasks('listen'), []);
    await offload(double, [1]);
    assert.deepEqual(await offload(tasks('hear'), []), { heard: [], workerData: undefined });
  }));

void test('a task has its result though the end of its thread is heard first', () =>
  withPool({ threads_max: 1, queue_max: 10 }, async () => {
    await offload(double, [1]);
    await pause(1);
    const answered = offload(tasks('answerAndLeave'), ['answer']);
    // Both come while this thread is busy. Node 22 and 24 take the news of the end first then.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    assert.equal(await answered, 'answer');
  }));

void test('a result may look like an error that was thrown', async () => {
  const body = { isThrownBySluiceTask: true, error: { status: 200 }, properties: {} };
  const parse = (text: string): unknown => JSON.parse(text);
  assert.deepEqual(await offload(parse, [JSON.stringify(body)]), body);
});

void test('a task whose thread cannot be started fails and is not run later', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-offload-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { NODE_OPTIONS } = process.env;
  await withPool({ threads_max: 1, queue_max: 1 }, async () => {
    process.env['NODE_OPTIONS'] = '--no-such-flag';
    const error = await failure(offload(tasks('failUntil'), [join(folder, 'ran'), 1, '']));
    delete process.env['NODE_OPTIONS'];
    if (NODE_OPTIONS !== undefined) process.env['NODE_OPTIONS'] = NODE_OPTIONS;
    assert.equal(error.code, 'SLU_OFFLOAD_THREAD');
    assert.match(error.message, /could not be started.*--no-such-flag/);
    assert.equal(await offload(double, [21]), 42);
    assert.equal(existsSync(join(folder, 'ran')), false);
  });
});

void test('bounds out of range are refused in words', async () => {
  await closeOffload();
  for (const [name, value] of [
    ['heap_mb_max', 4],
    ['recycle_tasks', 0],
    ['recycle_heap_mb', 0.5],
  ] as const) {
    assert.throws(
      () => configureOffload({ [name]: value }),
      new RegExp(`${name} is ${value}; .* a whole number from`),
    );
  }
  configureOffload({
    threads_max: 2,
    queue_max: 3,
    heap_mb_max: Infinity,
    recycle_tasks: Infinity,
    recycle_heap_mb: Infinity,
  });
});
