// Loops of `@sluice/breathe` let other requests into their worker, and nobody where nobody waits.
import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { app, repositoryDir, type Sluice } from '../support/sluice.ts';
import { ask, running, sent, STRICT, statusWhen } from './scenario.ts';

const entry = app('breathes.js');

interface Loop {
  took_ms: number;
  /** How often the app's timer of 10 ms ran. */
  ticks: number;
  yields: number;
  /** Handlers of other requests that began beside it. */
  beside: number;
}

async function loop(sluice: Sluice, query: string): Promise<Loop> {
  const { status, body } = await ask(sluice, `/loop?${query}`, { deadlineMs: 60_000 });
  assert.equal(status, 200);
  return JSON.parse(body.toString()) as Loop;
}

/** A loop while one client after the other asks for something light; how many were answered before the loop was. */
async function besideLoop(sluice: Sluice, query: string): Promise<Loop & { answered: number }> {
  const loopEnds = loop(sluice, query);
  const isOver = loopEnds.then(() => true);
  await statusWhen(sluice, ({ requests }) => requests.in_service > 0, 'the loop');
  let answered = 0;
  for (;;) {
    const light = ask(sluice, '/light', { deadlineMs: 60_000 });
    if (await Promise.race([isOver, light.then(() => false)])) {
      await light;
      return { ...(await loopEnds), answered };
    }
    answered += 1;
  }
}

for (const form of ['breathing', 'breather', 'breathe']) {
  void test(`others are answered by a worker that is in a loop: ${form}`, async (t) => {
    const sluice = await running(t, { entry, workers: 1 });
    const { answered, beside, took_ms } = await besideLoop(sluice, `ms=1500&form=${form}`);
    assert.ok(answered >= 20 && beside >= 20, `${answered} answered in ${took_ms} ms`);
    assert.equal((await sluice.status()).overlaps_total, 0);
  });
}

void test('the server in the guide serves under Sluice', async (t) => {
  const guide = fs.readFileSync(path.join(repositoryDir, 'docs/guide/your-app.md'), 'utf8');
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-guide-'));
  t.after(() => fs.rmSync(dir, { recursive: true }));
  fs.symlinkSync(path.join(repositoryDir, 'node_modules'), path.join(dir, 'node_modules'));
  for (const [, code = '', name = ''] of guide.matchAll(/```js\n(\/\/ (\w+\.mjs)\n[\s\S]*?)```/g)) {
    fs.writeFileSync(path.join(dir, name), code);
  }
  const sluice = await running(t, { entry: path.join(dir, 'server.mjs'), workers: 1 });
  const report = (await ask(sluice, '/report')).body.toString().split('\n');
  assert.equal(report.length, 100_000);
  assert.equal(report[98], '98;1');
  const digest = scryptSync('password', 'salt', 32).toString('hex');
  assert.equal((await ask(sluice, '/digest')).body.toString(), digest);
});

void test('none is answered beside a plain loop, so the count above means something', async (t) => {
  const sluice = await running(t, { entry, workers: 1 });
  const { beside } = await besideLoop(sluice, 'ms=1000&form=plain');
  assert.equal(beside, 0);
});

void test('a worker with a fixed number of slots lets others in as well', async (t) => {
  const sluice = await running(t, { entry, workers: 1, flags: ['--concurrency', '4'] });
  const { answered, took_ms } = await besideLoop(sluice, 'ms=1500');
  assert.ok(answered >= 20, `${answered} answered in ${took_ms} ms`);
});

void test('a loop that nobody waits for yields once in 50 ms', async (t) => {
  const sluice = await running(t, { entry, workers: 1 });
  for (const form of ['breathing', 'breather', 'breathe']) {
    const { yields, took_ms } = await loop(sluice, `ms=1000&form=${form}`);
    assert.ok(yields >= 2 && yields <= 2 + took_ms / 50, `${form}: ${yields} yields in ${took_ms} ms`);
  }
});

void test('I1: in strict mode the app never has two requests, and timers continue', async (t) => {
  const sluice = await running(t, { entry, workers: 1, flags: STRICT });
  // Longer than what a worker that stands still is given.
  const loopEnds = loop(sluice, 'ms=2500');
  await statusWhen(sluice, ({ requests }) => requests.in_service > 0, 'the loop');
  const lights = Array.from({ length: 5 }, () => ask(sluice, '/light', { deadlineMs: 60_000 }));
  const { beside, ticks, took_ms } = await loopEnds;
  assert.equal(beside, 0);
  assert.ok(ticks >= 20, `${ticks} ticks in ${took_ms} ms`);
  for (const light of lights) assert.equal((await light).status, 200);
  const { overlaps_total, workers } = await sluice.status();
  assert.equal(overlaps_total, 0);
  assert.equal(workers.length, 1);
  const late = sluice.logs.filter(({ event }) => event === 'worker_overdue' || event === 'worker_stuck');
  assert.deepEqual(late, [], 'its event loop turns');
});

void test('two loops in one worker share it, and others get in beside both', async (t) => {
  const sluice = await running(t, { entry, workers: 1, flags: ['--concurrency', '4'] });
  const other = loop(sluice, 'ms=1500');
  const { answered } = await besideLoop(sluice, 'ms=1500');
  assert.ok(answered >= 20, `${answered} answered`);
  assert.ok((await other).yields >= 20);
});

void test('a loop ends when its client leaves, long before it is over', async (t) => {
  const sluice = await running(t, { entry, workers: 1 });
  const connection = await sent(sluice, '/loop?ms=60000');
  await statusWhen(sluice, ({ requests }) => requests.in_service > 0, 'the loop');
  connection.close();
  await eventually(async () => (await ask(sluice, '/aborted')).body.toString() === '1', {
    deadlineMs: 20_000,
    what: 'the end of the loop',
  });
});
