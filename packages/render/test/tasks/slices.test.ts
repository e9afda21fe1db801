// Which components share a turn of the event loop, and when they do not.
import assert from 'node:assert/strict';
import { AsyncResource } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { startDeadline } from '../../src/tasks/deadline.js';
import { createTaskQueue, type TaskQueue } from '../../src/tasks/queue.js';
import { failed, rendered, viewJob } from '../support/components.js';

/** A component that the queue knows to be synchronous, as it has rendered it before. */
async function knownJob(queue: TaskQueue, view: () => string) {
  const known = viewJob(view);
  rendered(await queue.run(known));
  return known;
}

void test('components that are known to be synchronous share a macrotask', async () => {
  const queue = createTaskQueue();
  let [turns, renders] = [0, 0];
  const known = await knownJob(queue, () => {
    renders += 1;
    return '';
  });
  const count = (): void => {
    if (renders < 50) setImmediate(count);
    turns += 1;
  };
  // A machine that is busy may end a slice early, so the quietest of some trials counts.
  const trials: number[] = [];
  for (let trial = 0; trial < 10; trial += 1) {
    [turns, renders] = [0, 0];
    const page = queue.page();
    setImmediate(count);
    await Promise.all(Array.from({ length: 50 }, () => page.run(known)));
    trials.push(turns);
  }
  assert.ok(Math.min(...trials) < 10, `${trials.join(', ')} turns for 50 components`);
});

void test('timers fire between two components that take longer than a slice, though they could share one', async () => {
  const queue = createTaskQueue();
  const order: string[] = [];
  const known = await knownJob(queue, () => {
    order.push('render');
    setTimeout(() => order.push('timer'), 0);
    const until = performance.now() + 2;
    while (performance.now() < until);
    return '';
  });
  await turn();
  await new Promise((resolve) => setTimeout(resolve, 2));
  order.length = 0;
  const page = queue.page();
  await Promise.all([page.run(known), page.run(known), page.run(known)]);
  assert.deepEqual(order.slice(0, 5), ['render', 'timer', 'render', 'timer', 'render']);
});

void test('near a time limit every component has a macrotask of its own', async () => {
  const queue = createTaskQueue();
  const order: string[] = [];
  const known = await knownJob(queue, () => {
    order.push('render');
    queueMicrotask(() => order.push('end'));
    return '';
  });
  await turn();
  order.length = 0;
  const deadline = startDeadline(0, () => undefined);
  const page = queue.page();
  await Promise.all([page.run(known), page.run(known)]);
  deadline.clear();
  assert.deepEqual(order.slice(0, 3), ['render', 'end', 'render']);
});

void test('a component known as synchronous that aborts its page, and then goes on, leaves no hook of async calls', async () => {
  const queue = createTaskQueue();
  const controller = new AbortController();
  let [isAsync, isFollowed] = [false, false];
  /** Notes whether the component is followed: what it makes has a note of whose it is then. */
  const probe = (): string => {
    const notes = Object.getOwnPropertySymbols(new AsyncResource('Probe'));
    isFollowed = notes.some(({ description }) => description === 'account');
    return '';
  };
  const known = viewJob(() => {
    probe();
    if (!isAsync) return '';
    controller.abort();
    return Promise.reject(new Error('It goes on'));
  });
  const other = viewJob(probe);
  for (const each of [known, other]) {
    rendered(await queue.run(each));
    assert.equal(isFollowed, true);
    rendered(await queue.run(each));
    assert.equal(isFollowed, false);
  }
  isAsync = true;
  assert.equal(failed(await queue.run(known, { signal: controller.signal })).reason, 'aborted');
  await turn();
  rendered(await queue.run(other));
  assert.equal(isFollowed, false);
});
