/** Reads and writes of a cache as Falcor 2.4 has them. The differences that remain are listed in the README. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { Model } from '../../src/index.js';
import type { JsonGraph, Key, KeySet, Path, PathSet } from '../../src/types.js';
import { falcorModel, told } from '../reference/falcor.js';
import { check } from '../reference/property.js';
import { nest, pathText } from '../reference/reference.js';

const RUNS = Number(process.env['SLUICE_GRAPH_FALCOR_RUNS'] ?? 3000);
const leafKey = fc.constantFrom<Key>('x', 'y', 0, 1);
const id = fc.constantFrom<Key>('one', 'two', 0);

const value = fc.oneof(
  fc.constantFrom<unknown>(1, 'text', true, null),
  fc.constantFrom(
    { $type: 'atom', value: 5 },
    { $type: 'atom' },
    { $type: 'atom', value: { deep: [1, 2] } },
    { $type: 'error', value: 'broken' },
    { $type: 'atom', value: 'never', $expires: 1 },
    { $type: 'atom', value: 'gone', $expires: 2 },
    { $type: 'atom', value: 'later', $expires: 4_102_444_800_000 },
  ),
);
/** Values at `items.ID.KEY` and references at `lists.N.KEY`, to items, to single values, to other lists' items, and to nothing. */
const graph = fc
  .tuple(
    fc.array(fc.tuple(id, leafKey, value), { maxLength: 6 }),
    fc.array(
      fc.tuple(
        fc.constantFrom(0, 1),
        leafKey,
        fc.oneof(
          id.map((name) => ['items', name]),
          fc.tuple(id, leafKey).map(([name, key]) => ['items', name, key]),
          fc.constantFrom(['nothing', 'here'], ['chains', 0], ['chains', 1]),
        ),
      ),
      { maxLength: 4 },
    ),
    fc.array(fc.tuple(fc.constantFrom(0, 1), id), { maxLength: 2 }),
  )
  .map(([items, lists, chains]): JsonGraph => {
    const cache = {};
    for (const [name, key, wire] of items) nest(cache, ['items', name, key], wire);
    for (const [list, key, target] of lists)
      nest(cache, ['lists', list, key], { $type: 'ref', value: target });
    for (const [chain, name] of chains)
      nest(cache, ['chains', chain], { $type: 'ref', value: ['items', name] });
    return cache;
  });

const keySet: fc.Arbitrary<KeySet> = fc.oneof(
  leafKey,
  fc.uniqueArray(leafKey, { minLength: 1, maxLength: 3 }),
  fc.constantFrom({ to: 1 }, { from: 0, length: 2 }),
);
const ids: fc.Arbitrary<KeySet> = fc.oneof(id, fc.uniqueArray(id, { minLength: 1 }));
const pathSet: fc.Arbitrary<PathSet> = fc.oneof(
  fc.tuple(fc.constant('items'), ids, keySet),
  fc.tuple(fc.constant('items'), ids, keySet, leafKey),
  fc.tuple(fc.constant('items'), ids),
  fc.tuple(fc.constant('lists'), fc.constantFrom<KeySet>(0, { to: 1 }, [0, 1]), keySet, keySet),
  fc.tuple(fc.constant('lists'), fc.constantFrom<KeySet>(0, { to: 1 }), keySet),
  fc.tuple(fc.constant('chains'), keySet, keySet),
);

/** JSON without branches in which there is nothing, which Falcor makes in some cases, and without Falcor's own properties. */
function bare(json: unknown): unknown {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return json;
  const entries = Object.entries(json)
    .filter(([key]) => key !== '$__path' && key !== '$size')
    .map(([key, inner]): [string, unknown] => [key, bare(inner)])
    .filter(([, inner]) => inner !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

const errorText = (
  errors: readonly { readonly path: readonly unknown[]; readonly value: unknown }[],
): string[] =>
  // Falcor ends the path of an error behind a reference with null.
  errors
    .map(
      ({ path, value: error }) =>
        `${pathText(path.at(-1) === null ? path.slice(0, -1) : path)} ${JSON.stringify(bare(error))}`,
    )
    .sort();

void test('reads of a cache give what Falcor gives', async () => {
  await check(
    fc.property(
      graph,
      fc.array(pathSet, { minLength: 1, maxLength: 2 }),
      fc.boolean(),
      fc.boolean(),
      (cache, paths, isBoxed, takesErrors) => {
        // Falcor gives its own nodes for a branch at the end of a boxed path, and mixes a boxed reference with values behind it.
        fc.pre(!isBoxed || (paths.length === 1 && paths.every((path) => path.length > 2)));
        let theirs = falcorModel(cache);
        let ours = new Model({ cache });
        if (isBoxed) [ours, theirs] = [ours.boxValues(), theirs.boxValues()];
        if (takesErrors) [ours, theirs] = [ours.treatErrorsAsValues(), theirs.treatErrorsAsValues()];
        const { json, errors } = ours.read(...paths);
        const oracle = told(theirs.get(...paths));
        assert.deepEqual(bare(json), bare(oracle.json));
        assert.deepEqual([...new Set(errorText(errors))], [...new Set(errorText(oracle.errors))]);
      },
    ),
    RUNS,
  );
});

const written = fc.oneof(
  fc.constantFrom<unknown>(2, 'new', false, { plain: 'object' }),
  fc.constantFrom(
    { $type: 'atom', value: 6 },
    { $type: 'error', value: 'worse' },
    { $type: 'atom', value: 7, $timestamp: 5 },
    { $type: 'atom', value: 8, $timestamp: 4 },
  ),
);
const writtenPath: fc.Arbitrary<PathSet> = fc.oneof(
  fc.tuple(fc.constant('items'), ids, keySet),
  fc.tuple(fc.constant('items'), ids, keySet, leafKey),
  fc.tuple(fc.constant('lists'), fc.constantFrom<KeySet>(0, { to: 1 }), leafKey),
);

void test('writes to a cache leave what Falcor leaves', async () => {
  await check(
    fc.asyncProperty(
      graph,
      fc.array(fc.tuple(writtenPath, written), { minLength: 1, maxLength: 3 }),
      async (cache, values) => {
        const [theirs, ours] = [falcorModel(cache), new Model({ cache })];
        for (const [path, wire] of values) {
          told(theirs.set({ path, value: structuredClone(wire) }));
          await ours.treatErrorsAsValues().set({ path, value: wire as object });
        }
        assert.deepEqual(bare(unboxed(ours.getCache())), bare(unboxed(theirs.getCache())));
      },
    ),
    RUNS,
  );
});

/** Graph whose atoms without metadata are plain, as both may write them. Expired values, which one of both drops, are left out. */
function unboxed(graph_: unknown): unknown {
  if (typeof graph_ !== 'object' || graph_ === null) return graph_;
  const { $type, value: inner, $expires } = graph_ as { $type?: string; value?: unknown; $expires?: number };
  if ($expires === 2) return undefined;
  if (
    $type === 'atom' &&
    Object.keys(graph_).every((key) => ['$type', 'value'].includes(key)) &&
    typeof inner !== 'object'
  )
    return inner;
  if ($type !== undefined) return graph_;
  return Object.fromEntries(Object.entries(graph_).map(([key, below]) => [key, unboxed(below)]));
}

void test('writes through references change the values that they lead to, as in Falcor', async () => {
  const cache: JsonGraph = {
    lists: { 0: { $type: 'ref', value: ['items', 'one'] }, 1: { $type: 'ref', value: ['items', 'none'] } },
    items: { one: { x: 1 } },
  };
  const paths: [Path, unknown][] = [
    [['lists', 0, 'x'], 2],
    [['lists', 0, 'y'], 3],
    [['lists', 1, 'x'], 4],
    [['lists', 0], 'no reference'],
  ];
  const [theirs, ours] = [falcorModel(cache), new Model({ cache })];
  for (const [path, wire] of paths) {
    told(theirs.set({ path, value: wire }));
    await ours.set({ path, value: wire as number });
    assert.deepEqual(JSON.parse(JSON.stringify(ours.getCache())), theirs.getCache());
  }
});
