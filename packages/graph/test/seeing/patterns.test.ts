// Patterns of paths: what they name, what they count, and that nothing makes them many.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonGraph, PathSet } from '../../src/index.js';
import { CLIENTS, eachPattern, eachValue, nameKeys } from '../../src/seeing/patterns.js';

nameKeys(['list', 'titles', 'name', 'price', 'a b', '0', 'constructor']);

function counted(pathSet: PathSet): Record<string, number> {
  const counts: Record<string, number> = {};
  eachPattern(pathSet, ({ text }, count) => (counts[text] = (counts[text] ?? 0) + count));
  return counts;
}

void test('integers and keys of users are folded, keys of routes are not', () => {
  assert.deepEqual(counted(['list', { from: 2, to: 4 }, ['name', 'price']]), {
    'list[{integers}].name': 3,
    'list[{integers}].price': 3,
  });
  assert.deepEqual(counted(['list', [{ to: 1 }, 7, '9', 'ann@example.org'], 'name']), {
    'list[{integers}].name': 4,
    'list[{keys}].name': 1,
  });
  assert.deepEqual(counted(['a b', -4, null]), { '["a b"][{integers}]': 1 });
  assert.deepEqual(counted(['secret', true]), { '[{keys}][{keys}]': 1 });
  // Neither is a property of an object that everyone has.
  assert.deepEqual(counted(['constructor', '__proto__']), { 'constructor[{keys}]': 1 });
});

void test('a range of a billion costs nothing', () => {
  assert.deepEqual(counted(['list', { to: 999_999_999 }, 'name']), { 'list[{integers}].name': 1e9 });
});

void test('values are found where they are, with what other graphs have there', () => {
  const graph = {
    list: { 0: { $type: 'ref', value: ['titles', 7] } },
    titles: { 7: { name: 'Seven', price: { $type: 'atom', value: 3 } } },
  } as JsonGraph;
  const seen: [string, readonly boolean[]][] = [];
  eachValue(
    graph,
    [{ titles: { 7: { name: 'Seven' } } }, { titles: 'a value', list: {} }],
    ({ text }, has) => {
      seen.push([text, has]);
    },
  );
  assert.deepEqual(seen, [
    ['list[{integers}]', [false, false]],
    ['titles[{integers}].name', [true, false]],
    ['titles[{integers}].price', [false, false]],
  ]);
});

void test('what clients ask for takes no room from pages', () => {
  const keys = Array.from({ length: 14 }, (_, at) => `field${at}`);
  nameKeys(keys);
  const told = new Set<string>();
  eachPattern([keys, keys, keys], ({ text }) => told.add(text), CLIENTS);
  assert.ok(told.has('other'));
  assert.ok(told.size <= 201, String(told.size));
  assert.deepEqual(counted(['titles', { to: 1 }, 'price']), { 'titles[{integers}].price': 2 });
  // Patterns that pages have made are told of clients, too.
  eachPattern(['titles', 0, 'price'], ({ text }) => told.add(text), CLIENTS);
  assert.ok(told.has('titles[{integers}].price'));
});

void test('names of ten thousand routes and paths of a thousand steps make few patterns', () => {
  const keys = Array.from({ length: 10_000 }, (_, at) => `key${at}`);
  nameKeys(keys);
  nameKeys(['x'.repeat(100_000)]);
  const patterns = new Set<string>();
  for (const key of keys)
    for (const other of keys.slice(0, 3))
      for (const text of Object.keys(counted([key, other]))) patterns.add(text);
  assert.ok(patterns.size < 2_100, String(patterns.size));
  assert.ok(patterns.has('other'));
  assert.deepEqual(counted(['x'.repeat(100_000)]), { '[{keys}]': 1 });
  assert.deepEqual(counted(Array.from({ length: 1_000 }, () => 'list')), { other: 1 });
  let deep: JsonGraph = {};
  for (let at = 0; at < 5_000; at += 1) deep = { list: deep };
  eachValue(deep, [], () => assert.fail('nothing is so deep'));
});
