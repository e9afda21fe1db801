// Work that a request gives to another thread counts as the request's, ends with its client, and is waited for by a drain.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { app, type Sluice } from '../support/sluice.ts';
import { ask, running, sent, statusWhen } from './scenario.ts';

const entry = app('offloads.js');
const linux = process.platform === 'linux';
const env = { SLUICE_WORKERS_CONCURRENCY: '10', SLUICE_WORKERS_LANES: 'off' };

interface Access {
  target?: unknown;
  cpu_ms?: unknown;
}

/** The CPU time that the access log tells of requests for this target, from this line on. */
function costs(sluice: Sluice, target: string, from: number): number[] {
  const lines = sluice.logs.slice(from).filter(({ event }) => event === 'access') as Access[];
  return lines.flatMap((line) =>
    line.target === target && typeof line.cpu_ms === 'number' ? [line.cpu_ms] : [],
  );
}

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

void test(
  'the CPU time of offloaded work is its request’s, alone and beside others',
  { skip: !linux && 'the app asks /proc for its CPU time' },
  async (t) => {
    const sluice = await running(t, { entry, workers: 1, env });
    let from = sluice.logs.length;
    for (let asked = 0; asked < 10; asked += 1) await ask(sluice, '/offload');
    for (let asked = 0; asked < 10; asked += 1) await ask(sluice, '/light');
    await eventually(
      () => costs(sluice, '/offload', from).length + costs(sluice, '/light', from).length === 20,
      {
        deadlineMs: 15_000,
        what: 'the costs of both alone',
      },
    );
    const alone = {
      offload: mean(costs(sluice, '/offload', from).slice(1)),
      light: mean(costs(sluice, '/light', from)),
    };
    assert.ok(alone.offload >= 40, `${alone.offload} ms of 40`);

    from = sluice.logs.length;
    const enough = (): boolean =>
      costs(sluice, '/offload', from).length >= 30 && costs(sluice, '/light', from).length >= 60;
    const giveUpAt = performance.now() + 90_000;
    const users = Array.from({ length: 6 }, async (_, user) => {
      while (!enough() && performance.now() < giveUpAt) {
        await ask(sluice, user < 2 ? '/offload' : '/light', { deadlineMs: 60_000 });
      }
    });
    await Promise.all(users);
    assert.ok(enough(), 'figures of requests beside others');
    const beside = {
      offload: mean(costs(sluice, '/offload', from)),
      light: mean(costs(sluice, '/light', from)),
    };
    const figures = JSON.stringify({ alone, beside });
    t.diagnostic(figures);
    assert.ok(beside.offload >= 38 && beside.offload <= 1.5 * alone.offload, figures);
    assert.ok(beside.light <= 1.5 * alone.light, figures);

    const { stdout } = await sluice.cli(['classes', '--json']);
    const { classes } = JSON.parse(stdout) as { classes: { class: string; cost_mean_ms: number | null }[] };
    const shown = classes.find((each) => each.class.includes('/offload'))?.cost_mean_ms ?? 0;
    assert.ok(shown >= 38, `sluice classes shows ${shown} ms`);
  },
);

void test('others are served while a thread computes, in the default mode', async (t) => {
  const sluice = await running(t, { entry, workers: 1 });
  const heavy = ask(sluice, '/offload?ms=800', { deadlineMs: 60_000 });
  await statusWhen(sluice, ({ requests }) => requests.in_service > 0, 'the offloaded request');
  const isOver = heavy.then(() => true);
  let answered = 0;
  while (!(await Promise.race([isOver, ask(sluice, '/running').then(() => false)]))) answered += 1;
  assert.ok(answered >= 10, `${answered} answered meanwhile`);
});

void test('a task ends when its client leaves', async (t) => {
  const sluice = await running(t, { entry, workers: 1 });
  const connection = await sent(sluice, '/ended');
  const isRunning = async (count: string): Promise<boolean> =>
    (await ask(sluice, '/running')).body.toString() === count;
  await eventually(() => isRunning('1'), { deadlineMs: 15_000, what: 'the task' });
  connection.close();
  await eventually(() => isRunning('0'), { deadlineMs: 15_000, what: 'its end' });
});

void test('a drain waits for a task, and the worker then leaves by itself', async (t) => {
  const sluice = await running(t, { entry, workers: 1 });
  const heavy = ask(sluice, '/offload?ms=500', { deadlineMs: 60_000 });
  await statusWhen(sluice, ({ requests }) => requests.in_service > 0, 'the offloaded request');
  sluice.signal('SIGTERM');
  assert.equal((await heavy).status, 200);
  assert.equal((await sluice.finished(20_000)).code, 0);
});
