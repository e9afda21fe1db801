// Hooks of `t.after` run last first, and one that fails stops no other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runLastFirst } from './last-first.ts';

void test('what was made last is cleaned up first', async (t) => {
  const order: string[] = [];
  await t.test('a test with hooks', (inner) => {
    inner.after(() => order.push('folder'));
    inner.after(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push('gateway');
    });
    inner.after(() => order.push('connection'));
  });
  assert.deepEqual(order, ['connection', 'gateway', 'folder']);
});

void test('a hook that fails stops no other, and is told', async () => {
  const order: string[] = [];
  const hooks = [
    () => order.push('first'),
    () => Promise.reject(new Error('in between')),
    () => order.push('last'),
  ];
  await assert.rejects(runLastFirst(hooks), /in between/);
  assert.deepEqual(order, ['last', 'first']);
});
