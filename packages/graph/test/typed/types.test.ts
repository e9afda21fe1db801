// Paths and values of a shape, as the compiler sees them, and that they hold when the program runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Atom, Model, ref, type RefTo, type ShapeOf, typed, untyped } from '../../src/index.js';
import { graphHooks } from '../../src/react/index.js';

interface Title {
  readonly name: string;
  readonly price: number;
  readonly tags: readonly string[];
  readonly maker?: RefTo<Maker>;
}
interface Maker {
  readonly name: string;
  readonly size: Atom<{ readonly people: number }>;
}
interface Shop {
  readonly me: { readonly votes: number; readonly name: string | null };
  readonly list: Readonly<Record<number, RefTo<Title>>>;
  readonly byWord: Readonly<Record<string, RefTo<Title>>>;
  readonly cart: { readonly add: (sku: string, count: number) => void };
}

/** True where two types are the same. */
// oxlint-disable-next-line no-unnecessary-type-parameters -- The compiler compares the two conditions for every type.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles where the type is true. */
// oxlint-disable-next-line no-unnecessary-type-parameters -- The type is the whole of the assertion.
const is = <T extends true>(): T | undefined => undefined;

const model = typed<Shop>(
  new Model({
    cache: {
      me: { votes: 3, name: null },
      list: { 0: ref(['titles', 1]), 1: ref(['titles', 2]) },
      byWord: { tree: ref(['titles', 1]) },
      titles: {
        1: { name: 'One', price: 1, tags: { $type: 'atom', value: ['a'] }, maker: ref(['makers', 7]) },
        2: { name: 'Two', price: 2, tags: { $type: 'atom', value: [] } },
      },
      makers: { 7: { name: 'Seven', size: { $type: 'atom', value: { people: 9 } } } },
    },
  }),
);

void test('values have the types of the shape, through references and ranges', async () => {
  const votes = await model.getValue(['me', 'votes']);
  is<Same<typeof votes, number | undefined>>();
  assert.equal(votes, 3);

  const name = await model.getValue(['list', 0, 'maker', 'name']);
  is<Same<typeof name, string | undefined>>();
  assert.equal(name, 'Seven');

  const size = await model.getValue(['list', 0, 'maker', 'size']);
  is<Same<typeof size, { readonly people: number } | undefined>>();
  assert.deepEqual(size, { people: 9 });

  const envelope = await model.get(['list', { to: 1 }, ['name', 'price']], ['me', 'name']);
  const first = envelope?.json.list?.[0];
  is<Same<typeof first, { readonly name?: string; readonly price?: number } | undefined>>();
  assert.deepEqual(first, { name: 'One', price: 1 });
  const me = envelope?.json.me?.name;
  is<Same<typeof me, string | null | undefined>>();
  assert.equal(me, null);

  const { json } = model.read(['byWord', ['tree', 'stone'], 'tags']);
  const tags = json?.byWord?.tree?.tags;
  is<Same<typeof tags, readonly string[] | undefined>>();
  assert.deepEqual(tags, ['a']);
  assert.equal(await untyped(model as never).getValue('me.votes'), 3);
});

void test('paths and values that the shape does not have do not compile', () => {
  // Never called: what counts is that the compiler refuses each line.
  const never = async (): Promise<void> => {
    // @ts-expect-error -- No such branch.
    await model.get(['you', 'votes']);
    // @ts-expect-error -- No such field.
    await model.getValue(['me', 'vote']);
    // @ts-expect-error -- A path ends at a value.
    await model.get(['me']);
    // @ts-expect-error -- Nothing is below a value.
    await model.getValue(['me', 'votes', 'x']);
    // @ts-expect-error -- One name of the list is wrong.
    await model.get(['list', 0, ['name', 'cost']]);
    // @ts-expect-error -- Names have no ranges.
    await model.get(['me', { to: 3 }]);
    // @ts-expect-error -- One path, one value.
    await model.getValue(['list', { to: 3 }, 'name']);
    // @ts-expect-error -- A number is asked for.
    await model.setValue(['me', 'votes'], 'four');
    // @ts-expect-error -- The function takes a number second.
    await model.call(['cart', 'add'], ['sku', '2']);
    // @ts-expect-error -- It is no function.
    await model.call(['me', 'votes'], []);
    const { useGraph, useValue } = graphHooks<Shop>();
    // @ts-expect-error -- No such field.
    useValue(['me', 'vote']);
    // @ts-expect-error -- No such branch.
    useGraph(['you', 'votes']);

    await model.setValue(['me', 'votes'], 4);
    await model.call(['cart', 'add'], ['sku', 2]);
    const votes = useValue(['me', 'votes']);
    is<Same<typeof votes, number | undefined>>();
    const list = useGraph(['list', [0, { from: 3, to: 9 }], 'name'])?.list;
    const name = list?.[3]?.name;
    is<Same<typeof name, string | undefined>>();
  };
  assert.equal(typeof never, 'function');
});

void test('a shape comes from a Standard Schema', async () => {
  interface Schema {
    readonly '~standard': {
      readonly version: 1;
      readonly vendor: 'test';
      readonly types?: { readonly input: unknown; readonly output: { readonly a: { readonly b: number } } };
    };
  }
  const own = typed<ShapeOf<Schema>>(new Model({ cache: { a: { b: 1 } } }));
  const b = await own.getValue(['a', 'b']);
  is<Same<typeof b, number | undefined>>();
  assert.equal(b, 1);
});
