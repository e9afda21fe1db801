// Texts for keys: equal values have one, and no two others share it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { exactTextOf } from '../../src/state/exact.js';
import { revive } from '../../src/state/revive.js';
import { serialize, STATE_DEPTH_MAX } from '../../src/state/serialize.js';

void test('values that the browser gets whole have the text of their state', () => {
  const values: readonly unknown[] = [
    {},
    null,
    'text',
    [1, 'a</script>', true, null],
    { a: [{ b: { c: -0 } }], $sluice: ['map'] },
    { at: new Date(5), url: new URL('https://a.b/?c#d') },
    { map: new Map<unknown, unknown>([[{ a: 1 }, new Set([1n, undefined])]]), list: [undefined] },
  ];
  for (const value of values) {
    const exact = exactTextOf(value);
    assert.equal(exact?.text, serialize(value));
    assert.equal(exact.key, exact.text);
    assert.deepEqual(revive(exact.text), value);
  }
});

void test('a key says where the text leaves something out', () => {
  const values: readonly unknown[] = [
    {},
    { a: undefined },
    { b: undefined },
    { a: undefined, b: undefined },
    { b: undefined, a: undefined },
    Object.create(null),
    [],
    [undefined],
    [{ a: undefined }, {}],
    [{}, { a: undefined }],
    [{}, {}],
    { a: { x: undefined } },
    { a: {}, x: undefined },
    { x: undefined, a: {} },
    [],
    [[1, 0, 'a']],
  ];
  const keys = values.map((value) => exactTextOf(value)?.key);
  assert.ok(!keys.includes(undefined));
  assert.equal(new Set(keys).size, values.length - 1, 'two of them are []');
});

void test('keys are equal where values are, and only there', () => {
  const value = fc.anything({
    withDate: false,
    withMap: true,
    withSet: true,
    withBigInt: true,
    withNullPrototype: true,
    withSparseArray: true,
  });
  fc.assert(
    fc.property(value, value, (a, b) => {
      const [first, second] = [exactTextOf(a), exactTextOf(b)];
      if (first === undefined || second === undefined) return;
      if (first.key === second.key) assert.deepStrictEqual(a, b);
      assert.equal(first.text, serialize(a));
    }),
    { numRuns: 2_000 },
  );
});

void test('what a text cannot tell from others has no key', () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  let deep: unknown = 1;
  for (let level = 0; level < STATE_DEPTH_MAX + 1; level += 1) deep = [deep];
  let reads = 0;
  const values: Readonly<Record<string, unknown>> = {
    circle,
    deep,
    function: () => 1,
    symbol: Symbol('a'),
    getter: {
      get a() {
        reads += 1;
        return 1;
      },
    },
    hidden: Object.defineProperty({}, 'a', { value: 1 }),
    proto: JSON.parse('{"__proto__":{"a":1}}'),
    buffer: new ArrayBuffer(4),
    bytes: new Uint8Array(4),
    weak: new WeakMap(),
    intl: new Intl.NumberFormat('de'),
    boxed: Object('text'),
    list: new (class extends Array {})(),
  };
  for (const [name, value] of Object.entries(values)) {
    assert.equal(exactTextOf(value), undefined, name);
    assert.equal(exactTextOf({ a: [value] }), undefined, name);
    assert.equal(exactTextOf(new Map([[1, value]])), undefined, name);
  }
  assert.equal(reads, 0);
});
