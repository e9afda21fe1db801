// `workers.concurrency = "while-waiting"`: a worker that waits gets another request, one that computes does not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ask, ownApp, running, STRICT } from './scenario.ts';

const entry = ownApp('upstream.js');
const linux = process.platform === 'linux';

/** The most that the app said it held at once, of so many requests that came together. */
async function heldMax(sluice: Parameters<typeof ask>[0], target: string, count: number): Promise<number> {
  const answers = await Promise.all(Array.from({ length: count }, () => ask(sluice, target)));
  for (const { status } of answers) assert.equal(status, 200);
  return Math.max(...answers.map(({ body }) => Number(body.toString())));
}

void test(
  'I1: while-waiting gives a worker more requests while its current ones wait, up to the maximum',
  { skip: !linux && 'only Linux tells whether a worker waits' },
  async (t) => {
    const env = { SLUICE_WORKERS_CONCURRENCY: 'while-waiting', SLUICE_WORKERS_CONCURRENCY_MAX: '7' };
    const sluice = await running(t, { entry, workers: 1, env });
    const most = await heldMax(sluice, '/page', 40);
    assert.ok(most > 1 && most <= 7, `${most} at once`);
    assert.equal((await sluice.status()).overlaps_total, 0);
  },
);

/** The most that a worker held at once, as the gateway tells it, of so many requests that came together. */
async function givenMax(
  sluice: Awaited<ReturnType<typeof running>>,
  target: string,
  count: number,
): Promise<number> {
  const answers = heldMax(sluice, target, count);
  const over = answers.then(() => true);
  let most = 0;
  while (!(await Promise.race([over, Promise.resolve(false)]))) {
    await wait(5);
    const { workers } = await sluice.status();
    most = Math.max(most, ...workers.map(({ current }) => current.length));
  }
  await answers;
  return most;
}

void test('I1: while-waiting gives a computing worker no second request', async (t) => {
  const sluice = await running(t, {
    entry,
    workers: 1,
    env: { SLUICE_WORKERS_CONCURRENCY: 'while-waiting' },
  });
  assert.equal(await givenMax(sluice, '/spin', 8), 1);
});

void test('a worker that waits for a thread of its own takes no second request', async (t) => {
  const sluice = await running(t, {
    entry,
    workers: 1,
    env: { SLUICE_WORKERS_CONCURRENCY: 'while-waiting' },
  });
  // As long as its class is not known, which takes twelve: what blocks its thread uses no CPU, and looks like waiting then.
  assert.equal(await givenMax(sluice, '/lock', 10), 1);
});

void test(
  'what a worker may hold because its requests waited, it may not when they compute',
  { skip: !linux && 'only Linux tells whether a worker waits' },
  async (t) => {
    const env = { SLUICE_WORKERS_CONCURRENCY: 'while-waiting' };
    const sluice = await running(t, { entry, workers: 1, env });
    const most = await heldMax(sluice, '/page', 60);
    assert.ok(most > 3, `${most} at once while they wait`);
    // It learns that within a second or two; where the host takes CPU time from this machine, in a few more.
    const give_up_at = Date.now() + 20_000;
    let late: number[] = [];
    const learnt = () => late.length > 2 && late.every((count) => count >= 1 && count <= 2);
    const users = Array.from({ length: 12 }, async () => {
      while (!learnt() && Date.now() < give_up_at) assert.equal((await ask(sluice, '/turn')).status, 200);
    });
    while (!learnt() && Date.now() < give_up_at) {
      await wait(30);
      const { workers } = await sluice.status();
      late = [...late, Math.max(...workers.map(({ current }) => current.length))].slice(-3);
    }
    await Promise.all(users);
    assert.ok(learnt(), `${late.join(', ')} at once after many that computed`);
  },
);

void test('the old spelling still works, and the log names the new one', async (t) => {
  const sluice = await running(t, { entry, workers: 1, flags: ['--concurrency', 'auto'] });
  const notes = sluice.logs.filter(({ event, level }) => event === 'note' && level === 'warn');
  assert.deepEqual(
    notes.map(({ text }) => text),
    ['command line: workers.concurrency = "auto" is an old spelling; write "while-waiting".'],
  );
});

/** As elsewhere than on Linux. */
const byPreload = { SLUICE_TEST_LOOKS_BY_PRELOAD: '1' };

void test('I1: by the report of the preload, a worker gets more requests while its current ones wait', async (t) => {
  const env = { ...byPreload, SLUICE_WORKERS_CONCURRENCY_MAX: '7' };
  const sluice = await running(t, { entry, workers: 1, env });
  const most = await heldMax(sluice, '/page', 60);
  assert.ok(most > 2 && most <= 7, `${most} at once`);
  assert.equal((await sluice.status()).overlaps_total, 0);
});

void test('I1: by the report of the preload, a computing worker gets no second request', async (t) => {
  const sluice = await running(t, { entry, workers: 1, env: byPreload });
  assert.equal(await givenMax(sluice, '/spin', 8), 1);
});

void test('while-waiting is the default', async (t) => {
  const sluice = await running(t, { entry, workers: 1 });
  const most = await heldMax(sluice, '/page', 10);
  assert.ok(linux ? most > 1 : most === 1, `${most} at once`);
});

void test('I1: strict mode gives a worker no second request, even while it waits', async (t) => {
  const sluice = await running(t, { entry, workers: 1, flags: STRICT });
  assert.equal(await heldMax(sluice, '/page', 10), 1);
  assert.equal((await sluice.status()).overlaps_total, 0);
});
