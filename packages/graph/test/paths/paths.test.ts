/** Texts of paths, key sets, and path sets expanded, collapsed and subtracted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  collapsePaths,
  countKeys,
  countPaths,
  expandPaths,
  keysOf,
  listKeys,
  parsePath,
  parseRoute,
  PathError,
  PathLimitError,
  PathTrie,
  subtractPaths,
  toPath,
  toPathSet,
} from '../../src/paths/index.js';
import { check } from '../reference/property.js';
import type { Key, KeySet, PathSet } from '../../src/types.js';

void test('texts of paths parse into path sets', () => {
  const cases: [string, PathSet][] = [
    ['', []],
    ['a', ['a']],
    ['a.b.c', ['a', 'b', 'c']],
    ['a[0].b', ['a', 0, 'b']],
    ['a[0..9]', ['a', { from: 0, to: 9 }]],
    ['a[0...9]', ['a', { from: 0, to: 8 }]],
    ['a[ 0 .. 2 , 7 ]', ['a', [{ from: 0, to: 2 }, 7]]],
    ['a["b","c"]', ['a', ['b', 'c']]],
    ["a['it\\'s'].x", ['a', "it's", 'x']],
    ['["__proto__"].constructor', ['__proto__', 'constructor']],
    ['a[null]', ['a', null]],
    ['a[true,false]', ['a', [true, false]]],
    ['a-b.c_d$', ['a-b', 'c_d$']],
  ];
  for (const [text, path] of cases) assert.deepEqual(parsePath(text), path, text);
});

void test('texts that do not parse are refused with the position', () => {
  for (const text of [
    'a.',
    '.a',
    'a..b',
    'a[',
    'a[]',
    'a[0',
    'a[0..]',
    'a["b]',
    'a[b]',
    'a[0]b',
    'a[1.5]',
    'a{b}',
    'a[{keys}]',
  ])
    assert.throws(
      () => parsePath(text),
      (error) => error instanceof PathError && / at \d+ in the path/u.test(error.message),
      text,
    );
  assert.throws(() => parsePath('a[99999999999999999999]'), PathError);
  assert.throws(() => parsePath('a.'.repeat(300) + 'a'), PathError);
});

void test('texts of routes have patterns', () => {
  assert.deepEqual(parseRoute('titles[{integers:ids}]["name", "year"]'), [
    'titles',
    { type: 'integers', name: 'ids' },
    ['name', 'year'],
  ]);
  assert.deepEqual(parseRoute('a[{keys}][{ ranges : r }]'), [
    'a',
    { type: 'keys' },
    { type: 'ranges', name: 'r' },
  ]);
  assert.throws(() => parseRoute('a[{numbers}]'), PathError);
});

void test('key sets are counted without being expanded', () => {
  assert.equal(countKeys({ to: 1e9 }), 1e9 + 1);
  assert.equal(countKeys([{ length: 3 }, 'a', { from: 5, to: 4 }]), 4);
  assert.deepEqual([...keysOf([{ length: 2 }, 'a', { from: 7, length: 2 }])], [0, 1, 'a', 7, 8]);
  assert.throws(() => listKeys({ to: 1e9 }), PathLimitError);
  assert.equal(countPaths([[{ to: 1e9 }, { to: 1e9 }]]), (1e9 + 1) ** 2);
});

void test('values that are no path sets are refused', () => {
  for (const value of [
    undefined,
    null,
    5,
    {},
    [undefined],
    [[['a']]],
    [{}],
    [{ from: 0 }],
    [{ to: 1.5 }],
    [{ to: Infinity }],
    [Number.NaN],
    [() => 0],
    [{ from: -1, to: 2 }],
  ])
    assert.throws(() => toPathSet(value as PathSet), PathError, JSON.stringify(value));
  assert.throws(() => toPathSet(Array<string>(257).fill('a')), PathLimitError);
  assert.throws(() => toPath(['a', { to: 3 }]), PathError);
});

void test('path sets of too many paths are refused before they are expanded', () => {
  const hostile: PathSet[] = [['a', { to: 1e9 }, 'b']];
  assert.throws(() => [...expandPaths(hostile)], PathLimitError);
  assert.throws(() => collapsePaths(hostile), PathLimitError);
  assert.throws(() => subtractPaths(hostile, []), PathLimitError);
  assert.throws(() => subtractPaths([], hostile), PathLimitError);
  assert.throws(() => collapsePaths([[{ to: 1e9 }, []]]), PathLimitError);
});

const key = fc.oneof(
  fc.constantFrom('a', 'b', '__proto__', '1', 'x y'),
  fc.nat(6),
  fc.constant(null),
  fc.boolean(),
);
const range = fc.record({ from: fc.nat(4), length: fc.nat(3) });
const keySet: fc.Arbitrary<KeySet> = fc.oneof(key, range, fc.array(fc.oneof(key, range), { maxLength: 3 }));
const pathSets: fc.Arbitrary<PathSet[]> = fc.array(fc.array(keySet, { minLength: 1, maxLength: 4 }), {
  maxLength: 4,
});
const text = (path: readonly Key[]): string =>
  JSON.stringify(path.map((step) => (step === null ? null : String(step))));
const expanded = (sets: readonly PathSet[]): string[] =>
  [...new Set([...expandPaths(sets)].map(text))].sort();

void test('collapsed path sets hold the same paths, each once', async () => {
  await check(
    fc.property(pathSets, (sets) => {
      const collapsed = collapsePaths(sets);
      assert.deepEqual([...expandPaths(collapsed)].map(text).sort(), expanded(sets));
    }),
    500,
  );
});

void test('subtracted path sets hold what the others do not', async () => {
  await check(
    fc.property(pathSets, pathSets, (sets, others) => {
      const without = new Set(expanded(others));
      const rest = expanded(sets).filter((path) => !without.has(path));
      assert.deepEqual(expanded(subtractPaths(sets, others)), rest);
      assert.equal(PathTrie.of(sets).removeAll(PathTrie.of(others)), rest.length < expanded(sets).length);
    }),
    500,
  );
});

void test('paths that differ at one step become one path set', () => {
  assert.deepEqual(
    collapsePaths([
      ['lists', 2, 'name'],
      ['lists', 0, ['name', 'age']],
      ['lists', 1, 'age'],
      ['lists', '1', 'name'],
      ['lists', 2, 'age'],
    ]),
    [['lists', { from: 0, to: 2 }, ['age', 'name']]],
  );
});
