// Components that are suspended because they cost too much: for how long, and what ends it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OverrunCount, RenderHost } from '../../src/host.js';
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

/** A host that adds up what workers tell it, as Sluice does, and tells them when `tell` is called. */
function sharedHost(): { readonly host: () => RenderHost; readonly tell: (now_ms: number) => void } {
  const counts = new Map<string, number>();
  let told: Readonly<Record<string, OverrunCount>> = {};
  const host = {
    overruns: () => told,
    overran(component: string, isOver: boolean) {
      if (isOver) counts.set(component, (counts.get(component) ?? 0) + 1);
      else counts.delete(component);
    },
  } as unknown as RenderHost;
  return {
    host: () => host,
    tell: (now_ms) => {
      told = Object.fromEntries(
        [...counts].map(([component, count]) => [component, { count, at_ms: now_ms }]),
      );
    },
  };
}

void test('counts outlive the worker that is replaced for them', () => {
  const { host, tell } = sharedHost();
  for (let worker = 0; worker < 5; worker += 1) {
    const overruns = new Overruns({}, host);
    assert.equal(overruns.isSuspended('Slow', worker * 3_000), false, `worker ${worker}`);
    overruns.note('Slow', true, worker * 3_000);
    tell(worker * 3_000);
  }
  const next = new Overruns({}, host);
  assert.equal(next.isSuspended('Slow', 12_999), true);
  assert.equal(next.isSuspended('Slow', 13_000), false, 'one tries it');
  next.note('Slow', true, 13_000);
  tell(13_000);
  assert.equal(new Overruns({}, host).isSuspended('Slow', 14_999), true, 'twice as long');
});

void test('a render within the budget in one worker ends the count of all', () => {
  const { host, tell } = sharedHost();
  const [one, other] = [new Overruns({ max: 2 }, host), new Overruns({ max: 2 }, host)];
  one.note('Search', true, 0);
  tell(0);
  other.note('Search', false, 1);
  tell(1);
  one.note('Search', true, 2);
  assert.equal(one.isSuspended('Search', 3), false);
  one.note('Other', false, 3);
  tell(3);
  other.note('Search', true, 4);
  assert.equal(other.isSuspended('Search', 4), true, 'two in a row, one in each');
});
