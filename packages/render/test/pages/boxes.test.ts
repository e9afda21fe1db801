// What a started box keeps, and what is refused for one that was not started.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoxTask, type BoxTaskOwner } from '../../src/pages/box-task.js';
import { Boxes, type BoxesOptions } from '../../src/pages/boxes.js';
import type { Box } from '../../src/pages/plan.js';
import type { Result } from '../../src/pages/results.js';
import { OwnProps } from '../../src/tasks/own-props.js';
import { createTaskQueue } from '../../src/tasks/queue.js';
import { Scope } from '../../src/tasks/task.js';
import { component } from '../support/components.js';

const box: Box = {
  kind: 'box',
  place: 0,
  id: 'b1',
  node: { component: 'View' },
  given: { n: 1 },
  slots: new Map(),
  failure: undefined,
};

void test('nobody waits for a box that was not started: it is refused', async () => {
  const boxes = new Boxes({} as BoxesOptions);
  assert.throws(() => boxes.await(box, { settled: () => undefined }), /Box b1 was not started/);
  await assert.rejects(boxes.result(box), /Box b1 was not started/);
});

for (const [outcome, view] of [
  ['rendered', () => 'html'],
  ['failed', () => Promise.reject(new Error('It threw'))],
] as const) {
  void test(`a box that has ${outcome} keeps no props`, async () => {
    const seen: unknown[] = [];
    const viewing = component('View', (props: unknown) => {
      seen.push(props);
      return view();
    });
    let told = (): void => undefined;
    const isTold = new Promise<void>((resolve) => (told = resolve));
    const tell = (by: string) => (task: BoxTask) => {
      seen.push(by, task.own !== undefined, task.hole !== undefined);
      told();
    };
    const owner: BoxTaskOwner = { rendered: tell('rendered'), failed: tell('failed') };
    const task = new BoxTask(owner, box, viewing, false);
    task.hole = {} as Result;
    task.prepare(viewing, viewing, new OwnProps(viewing, { n: 1 }, false), undefined);
    createTaskQueue().page().start(task, new Scope());
    await isTold;
    assert.deepEqual(seen, [{ n: 1 }, outcome, true, true]);
    assert.equal(task.own, undefined);
    assert.equal(task.hole, undefined);
  });
}
