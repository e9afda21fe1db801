/** When a loop has used up its budget; with a clock of its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pace } from '../src/pace.js';

/** A loop whose items take so long each, until a budget is used up. */
function paced(
  budget_ms: number,
  late = 0,
): { readonly pace: Pace; clock: { now_ms: number; looks: number } } {
  const clock = { now_ms: 0, looks: 0 };
  const pace = new Pace(
    budget_ms,
    () => {
      clock.looks += 1;
      return clock.now_ms;
    },
    late,
  );
  return { pace, clock };
}

void test('a budget is used up when it is over, whatever the items take', () => {
  for (const item_ms of [0.0002, 0.01, 0.3, 4, 60]) {
    const { pace, clock } = paced(5);
    for (let round = 0; round < 5; round += 1) {
      const began_ms = clock.now_ms;
      let items = 0;
      do {
        clock.now_ms += item_ms;
        items += 1;
      } while (!pace.isUsedUp());
      const took_ms = clock.now_ms - began_ms;
      assert.ok(took_ms >= 5 || items === 1, `${item_ms} ms an item: ${took_ms} ms`);
      assert.ok(took_ms <= 5 + Math.max(1, 2 * item_ms), `${item_ms} ms an item: ${took_ms} ms`);
    }
  }
});

void test('the clock is read about 16 times a budget where items are cheap', () => {
  const { pace, clock } = paced(5);
  for (let items = 0; items < 10_000_000 && clock.now_ms < 500; items += 1) {
    clock.now_ms += 0.001;
    pace.isUsedUp();
  }
  assert.ok(clock.looks > 100 * 8 && clock.looks < 100 * 40, `${clock.looks} looks in 100 budgets`);
});

void test('items that become dear are noticed within 1,024 of them, and looked at one by one from then on', () => {
  const { pace, clock } = paced(5);
  for (let items = 0; items < 200_000; items += 1) {
    clock.now_ms += 0.0001;
    pace.isUsedUp();
  }
  let late = 0;
  for (; !pace.isUsedUp(); late += 1) clock.now_ms += 1;
  assert.ok(late <= 1024, `${late} items`);
  let next = 0;
  do {
    clock.now_ms += 1;
    next += 1;
  } while (!pace.isUsedUp());
  assert.ok(next <= 6, `${next} items of 1 ms in a budget of 5`);
});

void test('a budget begins anew when the loop has let others in', () => {
  const { pace, clock } = paced(5);
  clock.now_ms += 4;
  assert.equal(pace.isUsedUp(), false);
  clock.now_ms += 100;
  pace.begin();
  clock.now_ms += 4;
  assert.equal(pace.isUsedUp(), false);
  clock.now_ms += 1;
  assert.equal(pace.isUsedUp(), true);
});

void test('a pace that begins late looks at no clock before, and counts its budget from then on', () => {
  const { pace, clock } = paced(5, 4);
  for (let items = 0; items < 4; items += 1) {
    assert.equal(pace.isUsedUp(), false);
    clock.now_ms += 100;
  }
  assert.equal(clock.looks, 0);
  assert.equal(pace.isUsedUp(), false, 'the budget begins');
  clock.now_ms += 4;
  assert.equal(pace.isUsedUp(), false);
  clock.now_ms += 1;
  assert.equal(pace.isUsedUp(), true);
});
