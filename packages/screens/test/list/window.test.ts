// Windows of lists, by random moves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { Offsets } from '../../src/list/offsets.ts';
import { type Frame, START, type Window, fitted, moved } from '../../src/list/window.ts';
import { runs } from '../support/seed.ts';

test('offsets by a function are those of all sizes added up, and no size is asked for twice', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 300 }),
      fc.array(fc.nat(9000)),
      (sizes, places) => {
        const asked: number[] = [];
        const offsets = new Offsets((index) => {
          asked.push(index);
          return sizes[index] ?? 0;
        }, sizes.length);
        const ends = sizes.map((_, index) => sizes.slice(0, index + 1).reduce((sum, size) => sum + size, 0));
        for (const place of places) {
          const index = ends.findIndex((end) => end > place);
          assert.equal(offsets.at(place), index === -1 ? sizes.length - 1 : index);
          assert.equal(offsets.endBefore(place), Math.min(place, ends.at(-1) ?? 0));
        }
        for (const [index, end] of ends.entries()) assert.equal(offsets.start(index + 1), end);
        assert.deepEqual(
          asked,
          sizes.map((_, index) => index),
        );
      },
    ),
    runs(200),
  );
  let asked = 0;
  const long = new Offsets(() => ((asked += 1), 100), 100_000);
  long.at(1000);
  assert.ok(asked < 30, `${asked} sizes for the first screen`);
});

const frames = fc.record({
  count: fc.integer({ min: 1, max: 400 }),
  length: fc.integer({ min: 100, max: 900 }),
  size: fc.oneof(fc.integer({ min: 40, max: 400 }), fc.constant('by index' as const)),
  align: fc.constantFrom('nearest', 'start', 'center'),
});

function check(window: Window, { offsets, count, length, screens }: Frame): void {
  const shown = window.slots.filter((index) => index >= 0);
  assert.equal(new Set(shown).size, shown.length, 'no item has two slots');
  assert.ok(shown.every((index) => index < count));
  for (
    let index = offsets.at(window.scroll);
    index < count && offsets.start(index) < window.scroll + length;
    index += 1
  )
    if (offsets.size(index) > 0) assert.ok(shown.includes(index), `item ${index} is on the screen`);
  assert.ok(shown.includes(window.index));
  const [start, end] = [offsets.start(window.index), offsets.start(window.index + 1)];
  const sees = Math.min(end, window.scroll + length) - Math.max(start, window.scroll);
  assert.ok(sees >= Math.min(end - start, length), 'the item with the focus is seen');
  assert.ok(window.scroll >= 0);
  assert.ok(
    offsets.start(count) <= length || window.scroll + length <= offsets.start(count),
    'nothing behind the end',
  );
  assert.ok(screens === 3);
}

test('what is on the screen has a slot, whatever keys do', () => {
  fc.assert(
    fc.property(
      frames,
      fc.array(fc.oneof(fc.constantFrom(1, 1, 1, -1), fc.integer({ min: -400, max: 400 }))),
      ({ count, length, size, align }, steps) => {
        const offsets = new Offsets(size === 'by index' ? (index) => 40 + ((index * 37) % 200) : size, count);
        const frame: Frame = { offsets, count, length, screens: 3, align };
        let window = fitted(START, frame);
        let most = 0;
        for (const step of steps) {
          window = moved(window, Math.min(Math.max(window.index + step, 0), count - 1), frame);
          check(window, frame);
          most = Math.max(most, window.slots.length);
          assert.equal(fitted(window, frame), window, 'nothing is missing');
        }
        if (typeof size === 'number')
          assert.ok(most <= Math.max((3 * length) / size, Math.ceil(length / size) + 2) + 1, `${most} slots`);
      },
    ),
    runs(500),
  );
});

test('a list that gets shorter gives up slots and keeps an item with the focus', () => {
  const frame = (count: number): Frame => ({
    offsets: new Offsets(100, count),
    count,
    length: 400,
    screens: 3,
    align: 'nearest',
  });
  let window = fitted({ ...START, index: 50 }, frame(100));
  window = fitted(window, frame(20));
  assert.equal(window.index, 19);
  check(window, frame(20));
  window = fitted(window, frame(0));
  assert.deepEqual(window.slots, []);
  window = fitted(window, frame(5));
  check(window, frame(5));
});

test('a key gives few slots another item', () => {
  const frame: Frame = {
    offsets: new Offsets(100, 1000),
    count: 1000,
    length: 400,
    screens: 3,
    align: 'start',
  };
  let window = fitted(START, frame);
  for (let index = 1; index < 60; index += 1) {
    const next = moved(window, index, frame);
    const changed = next.slots.filter((item, slot) => item !== window.slots[slot]).length;
    assert.ok(changed <= 3, `${changed} at ${index}`);
    window = next;
  }
});
