// Components that are suspended because they cost too much: for how long, and what ends it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Overruns } from '../../src/pages/overruns.js';

/** Goes over the budget as often as it is let, and returns the times at which it was, in milliseconds. */
function triesOf(overruns: Overruns, until_ms: number): number[] {
  const tries: number[] = [];
  for (let now_ms = 0; now_ms < until_ms; now_ms += 100) {
    if (overruns.isSuspended('Slow', now_ms)) continue;
    tries.push(now_ms);
    overruns.note('Slow', true, now_ms);
  }
  return tries;
}

void test('a component that always costs too much is tried ever less often', () => {
  const overruns = new Overruns({ max: 3, suspendS: 10 });
  assert.deepEqual(triesOf(overruns, 36_000), [0, 100, 200, 1_200, 3_200, 7_200, 15_200, 25_200, 35_200]);
});

void test('renders that cost too much by the choice of one visitor suspend a component for a second', () => {
  const overruns = new Overruns();
  for (let count = 0; count < 5; count += 1) {
    assert.equal(overruns.isSuspended('Search', 0), false);
    overruns.note('Search', true, 0);
  }
  assert.equal(overruns.isSuspended('Search', 999), true);
  assert.equal(overruns.isSuspended('Other', 999), false);
  assert.equal(overruns.isSuspended('Search', 1_000), false, 'one tries it');
  assert.equal(overruns.isSuspended('Search', 1_001), true, 'the others wait for how that ends');
  overruns.note('Search', false, 1_010);
  assert.equal(overruns.isSuspended('Search', 1_010), false);
});

void test('one render within the budget forgets those before it', () => {
  const overruns = new Overruns({ max: 2 });
  for (const isOver of [true, false, true]) overruns.note('Search', isOver, 0);
  assert.equal(overruns.isSuspended('Search', 0), false);
});
