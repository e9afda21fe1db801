// Copies of data: equal, with nothing shared that a component could change.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { seed } from '../../../../tests/support/chance.js';
import { serialize, serializeJson } from '../../src/state/serialize.js';
import { Copier, copyOf } from '../../src/tasks/copy.js';

function* objectsIn(value: unknown, seen = new Set<unknown>()): Generator<object> {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  yield value;
  const inner =
    value instanceof Map ? [...value].flat() : value instanceof Set ? [...value] : Object.values(value);
  for (const each of inner) yield* objectsIn(each, seen);
}

const data = fc.anything({
  withDate: true,
  withMap: true,
  withSet: true,
  withSparseArray: true,
  withNullPrototype: true,
  maxDepth: 4,
});

test('a copy is equal and shares no object, however many there are', () => {
  fc.assert(
    fc.property(data, (value) => {
      const copy = copyOf(value);
      assert.deepEqual(copy, value);
      const originals = new Set<object>(objectsIn(value));
      for (const each of objectsIn(copy)) assert.ok(!originals.has(each));
    }),
    { seed, numRuns: 1_000 },
  );
});

test('what a copier has seen to be JSON has the same text without a second look', () => {
  let seen = 0;
  const odd = fc.constantFrom(undefined, Number.NaN, -0, 7n, new Date(0), new URL('https://a.b/'), new Map());
  const name = fc.oneof(fc.string(), fc.constantFrom('$sluice', '__proto__', 'toJSON', '0'));
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue(),
      odd,
      fc.array(tie('tree')),
      fc.dictionary(name, tie('tree')),
      data,
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      const copier = new Copier();
      copier.copy(value);
      if (!copier.isJson) return;
      seen += 1;
      assert.equal(serializeJson(value), serialize(value));
    }),
    { seed, numRuns: 3_000 },
  );
  assert.ok(seen > 100, `${seen} values were JSON`);
});

test('a circle, an object that is there twice and data of more than a thousand levels are no JSON', () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const twice = { n: 1 };
  let deep: unknown = 1;
  for (let level = 0; level < 1_001; level += 1) deep = [deep];
  for (const value of [circle, [twice, twice], deep, [undefined], { call: () => 1 }, { n: -0 }]) {
    const copier = new Copier();
    copier.copy(value);
    assert.equal(copier.isJson, false);
  }
});

test('what is one object stays one, also in circles', () => {
  for (const count of [1, 50]) {
    const items: { self?: unknown; n: number }[] = Array.from({ length: count }, (_, n) => ({ n }));
    for (const item of items) item.self = items;
    const copy = copyOf({ items, chosen: items[count - 1] });
    assert.equal(copy.items[count - 1], copy.chosen);
    assert.equal(copy.items[0]?.self, copy.items);
    assert.notEqual(copy.items, items);
  }
});

test('elements of React, functions and instances of classes are shared, and a prototype is no property', () => {
  class Money {
    amount = 7;
  }
  const element = { $$typeof: Symbol.for('react.element'), props: {} };
  const given = { element, money: new Money(), call: () => 7, url: new URL('https://a.b/c') };
  const copy = copyOf(given);
  assert.deepEqual(
    [copy.element === element, copy.money === given.money, copy.call === given.call, copy.url === given.url],
    [true, true, true, false],
  );
  const hostile = copyOf(
    JSON.parse('{"a":{"__proto__":{"polluted":1},"b":2}}') as { a: Record<string, unknown> },
  );
  assert.deepEqual(Object.keys(hostile.a), ['b']);
  assert.equal(hostile.a['polluted'], undefined);
});

test('a frozen copy cannot be changed at any depth, and the original can', () => {
  const given = { list: [{ n: 1 }] };
  const copy = copyOf(given, true);
  assert.throws(() => copy.list.push({ n: 2 }), TypeError);
  assert.throws(() => ((copy.list[0] ?? { n: 0 }).n = 2), TypeError);
  given.list.push({ n: 3 });
  assert.equal(copy.list.length, 1);
});
