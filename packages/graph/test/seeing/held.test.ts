// What a browser says that its page had: never more than a request may carry, nor an error of its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Model } from '../../src/index.js';
import { heldNoted } from '../../src/seeing/held.js';
import type { PathSet } from '../../src/types.js';

/** Places that go with a request for the path sets. */
async function held(had: Model, paths: readonly PathSet[]): Promise<readonly number[] | undefined> {
  let places: readonly number[] | undefined;
  const source = heldNoted(
    {
      get: async (_, options) => {
        places = options?.held;
        return { jsonGraph: {} };
      },
    },
    () => had,
  );
  await source.get(paths);
  return places;
}

void test('5,000 path sets that the page had make no header that servers refuse', async () => {
  const count = 5_000;
  const list = Object.fromEntries(Array.from({ length: count }, (_, at) => [at, at]));
  const had = new Model({ cache: { list } });
  const paths = Array.from({ length: count }, (_, at): PathSet => ['list', at]);
  const first = await held(had, paths);
  assert.ok(first !== undefined && first.length > 500 && first.length <= 1_000);
  assert.ok(first.join().length <= 4_096);
  assert.deepEqual(first.slice(0, 3), [0, 1, 2]);
  assert.deepEqual(
    await held(had, [...Array.from({ length: 10_000 }, (): PathSet => ['none']), ['list', 0]]),
    [],
  );
  // Late places are longer.
  const last = await held(had, [...Array.from({ length: 4_000 }, (): PathSet => ['none']), ...paths]);
  assert.ok(last?.[0] === 4_000 && last.join().length <= 4_096);
});

void test('a path set that is too large to look at is none that the page had', async () => {
  const had = new Model({ cache: { a: 1 } });
  const large: PathSet = ['list', { from: 0, to: 999_999_999 }];
  assert.deepEqual(await held(had, [large, ['a']]), [1]);
});
