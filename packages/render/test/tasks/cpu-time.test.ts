// Whose CPU time is whose. The amounts are rounds of one loop, and are compared as ratios on the clock of the thread, so that a
// busy machine changes nothing.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { CpuClock } from '#host/cpu-clock.js';
import { createTaskQueue, type PageTasks, type TaskQueue } from '../../src/tasks/queue.js';
import { burn, roundsOfMs } from '../support/burn.js';
import { rendered, viewJob } from '../support/components.js';

const ms = roundsOfMs(1);

/** CPU microseconds of a component that computes for so many milliseconds. */
async function syncCpu_us(page: PageTasks, amount: number): Promise<number> {
  return rendered(await page.run(viewJob(() => String(burn(ms * amount))))).cpu_us;
}

async function asyncCpu_us(page: PageTasks, amount: number): Promise<number> {
  const view = async (): Promise<string> => {
    for (let part = 0; part < 4; part += 1) {
      burn((ms * amount) / 4);
      // Some parts come in a macrotask of their own, some in the same.
      if (part % 2 === 0) await turn();
      else await Promise.resolve();
    }
    return '';
  };
  return rendered(await page.run(viewJob(view, { budgetMs: 10_000, timeoutMs: 60_000 }))).cpu_us;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function assertRatio(value: number, to: number, within: number): void {
  const ratio = value / to;
  assert.ok(Math.abs(ratio - 1) <= within, `${value} to ${to} is ${ratio.toFixed(3)}, not within ${within}`);
}

void test('times of the components of a page add up to its CPU time within 5 %', async () => {
  const queue = createTaskQueue();
  const clock = new CpuClock(true);
  const read_us = (): number => {
    clock.read();
    return clock.main_us;
  };
  const ratios: number[] = [];
  for (let trial = 0; trial < 4; trial += 1) {
    const page = queue.page();
    const before_us = read_us();
    const parts = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        index % 4 === 0 ? asyncCpu_us(page, 20) : syncCpu_us(page, 6 + (index % 3) * 4),
      ),
    );
    const page_us = read_us() - before_us;
    const sum_us = parts.reduce((sum, part) => sum + part, 0);
    assertRatio(sum_us, page.cpu_us, 0.001);
    ratios.push(sum_us / page_us);
  }
  // A turn of the event loop between two components takes up to 0.2 ms on a busy machine, so the quietest trial counts.
  const deviations = ratios.map((ratio) => Math.abs(ratio - 1));
  assert.ok(Math.min(...deviations) <= 0.05, ratios.map((ratio) => ratio.toFixed(3)).join(' '));
});

void test('ten other pages in flight do not change a component’s own CPU time', async () => {
  const measure = async (queue: TaskQueue, others: number): Promise<readonly [number, number]> => {
    const noise = Array.from({ length: others }, async () => {
      const page = queue.page();
      await Promise.all([asyncCpu_us(page, 10), syncCpu_us(page, 5), syncCpu_us(page, 5)]);
    });
    const page = queue.page();
    const [waiting, computing] = await Promise.all([asyncCpu_us(page, 10), syncCpu_us(page, 5)]);
    await Promise.all(noise);
    return [waiting, computing];
  };
  const queue = createTaskQueue();
  const alone: (readonly [number, number])[] = [];
  const among: (readonly [number, number])[] = [];
  for (let trial = 0; trial < 7; trial += 1) {
    alone.push(await measure(queue, 0));
    among.push(await measure(queue, 10));
  }
  // Wrong attribution would show as a factor of ten, not as per cents.
  assertRatio(median(among.map(([waiting]) => waiting)), median(alone.map(([waiting]) => waiting)), 0.25);
  assertRatio(
    median(among.map(([, computing]) => computing)),
    median(alone.map(([, computing]) => computing)),
    0.25,
  );
});

void test('the time that a component waits is nobody’s CPU time', async () => {
  const queue = createTaskQueue();
  const page = queue.page();
  const computing = 20;
  const shares: number[] = [];
  // One of them may be interrupted for long, where others want the CPU.
  for (let round = 0; round < 5; round += 1) {
    const [waiting_us, computing_us] = await Promise.all([
      page
        .run(
          viewJob(async () => {
            for (let turns = 0; turns < 5; turns += 1) await turn();
            return '';
          }),
        )
        .then((result) => rendered(result).cpu_us),
      syncCpu_us(page, computing),
    ]);
    shares.push(waiting_us / computing_us);
  }
  assert.ok(median(shares) < 0.1, `shares of the other's time: ${shares.join(', ')}`);
});
