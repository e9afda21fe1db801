/** Views, values with metadata, the bound of the cache, subscriptions and hostile input. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  atom,
  error,
  Model,
  PathError,
  PathLimitError,
  ReadErrors,
  ref,
  ReferenceLoopError,
} from '../../src/index.js';
import type { JsonGraph, PathSet } from '../../src/types.js';
import { ManualSource, settled } from '../reference/source.js';

const graph: JsonGraph = {
  lists: { 0: ref('items.one'), 1: ref('items.two') },
  items: { one: { name: 'one', tags: atom(['a', 'b']), broken: error('no stock') }, two: { name: 'two' } },
};
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

void test('JSON of a read is plain, and its branches lead to models', async () => {
  const model = new Model({ cache: graph });
  const { json } = (await model.get('lists[0..1].name')) as { json: { lists: object[] } };
  assert.deepStrictEqual(json, { lists: { 0: { name: 'one' }, 1: { name: 'two' } } });
  assert.deepEqual(Reflect.ownKeys(json.lists[0] as object), ['name']);
  const item = model.deref(json.lists[1]);
  assert.deepEqual(item.getPath(), ['items', 'two']);
  assert.equal(await item.getValue('name'), 'two');
  await item.setValue('name', 'renamed');
  assert.equal(await model.getValue('lists[1].name'), 'renamed');
  assert.deepEqual(item.read('price').missing, [['items', 'two', 'price']]);
  for (const value of [{}, { ...json.lists[1] }, undefined, null, 5, 'text'])
    assert.throws(() => model.deref(value), PathError);
});

void test('views of one cache are told from other models, also from those of another copy of the package', async () => {
  const model = new Model();
  assert.equal(model.isViewOf(model.boxValues()), true);
  assert.equal(model.isViewOf(new Model()), false);
  const copy = (await import(
    String(new URL('../../src/model/model.ts?copy', import.meta.url))
  )) as typeof import('../../src/model/model.js');
  assert.notEqual(copy.Model, Model);
  assert.equal(model.isViewOf(new copy.Model() as never), false);
});

void test('JSON of a read may be a value itself', async () => {
  const model = new Model({ cache: graph });
  const { json } = (await model.get('items.one.name')) as { json: { items: object } };
  await model.setValue('copy', atom(json.items));
  assert.deepEqual(await model.getValue('copy'), { one: { name: 'one' } });
});

void test('values that are pushed replace local ones that are answered, and no others', async () => {
  const source = new ManualSource();
  const model = new Model({ source });
  const local = model.withoutDataSource();
  // Writes that change nothing: there are more of them than changes.
  for (let at = 0; at < 5; at += 1) await local.set({ path: 'a', value: 'mine' });
  model.merge({ jsonGraph: { a: 'pushed' } });
  assert.equal(await model.getValue('a'), 'pushed');
  const write = model.setValue('a', 'on its way');
  model.merge({ jsonGraph: { a: 'pushed' } });
  assert.deepEqual(model.read('a').json, { a: 'on its way' });
  source.sets[0]?.answer({ a: 'answered' });
  assert.equal(await write, 'answered');
});

void test('a view of a branch that left the cache finds it again, or asks for it', async () => {
  const source = new ManualSource();
  const model = new Model({ source, cache: graph });
  const { json } = (await model.get('lists[0].name')) as { json: { lists: object[] } };
  const item = model.deref(json.lists[0]);
  model.invalidate('items.one');
  const read = item.getValue('name');
  await settled();
  assert.deepEqual(source.gets[0]?.paths, [['items', 'one', 'name']]);
  source.gets[0]?.answer({ items: { one: { name: 'again' } } });
  assert.equal(await read, 'again');
  model.invalidate('items.one');
  await item.withoutDataSource().setValue('name', 'written');
  assert.equal(model.withoutDataSource().read('lists[0].name').json?.['lists'] !== undefined, true);
  assert.equal(await model.getValue('items.one.name'), 'written');
});

void test('errors reject with all of them and what was read, or are values', async () => {
  const model = new Model({ cache: graph });
  await assert.rejects(model.get('lists[0]["name","broken"]'), (thrown) => {
    assert.ok(thrown instanceof ReadErrors);
    assert.deepEqual(thrown.errors, [{ path: ['lists', 0, 'broken'], value: 'no stock' }]);
    assert.deepEqual(thrown.json, { lists: { 0: { name: 'one' } } });
    return true;
  });
  const asValues = model.treatErrorsAsValues();
  assert.equal(await asValues.getValue('lists[0].broken'), 'no stock');
  assert.deepEqual(await asValues.boxValues().getValue('items.one.broken'), error('no stock'));
  await assert.rejects(model.getValue('items.one.broken'), ReadErrors);
});

void test('boxed values keep their wrappers', async () => {
  const boxed = new Model({ cache: graph }).boxValues();
  assert.deepEqual(await boxed.getValue('lists[0]'), ref('items.one'));
  assert.deepEqual(await boxed.getValue('items.one.name'), atom('one'));
  assert.deepEqual(await boxed.unboxValues().getValue('items.one.tags'), ['a', 'b']);
});

void test('writes take values, JSON and graphs', async () => {
  const model = new Model({ cache: graph });
  await model.set({ json: { lists: { 0: { name: 'JSON' } }, more: { list: [1, 2] } } });
  await model.set(
    { jsonGraph: { items: { two: { name: 'graph' } } } },
    { path: 'n[0..1]["x"]', value: { any: 'object' } },
  );
  assert.deepEqual(plain((await model.get('lists[0..1].name', 'more.list', 'n[0..1].x'))?.json), {
    lists: { 0: { name: 'JSON' }, 1: { name: 'graph' } },
    more: { list: [1, 2] },
    n: { 0: { x: { any: 'object' } }, 1: { x: { any: 'object' } } },
  });
});

void test('null at the end of a path is what a reference leads to', async () => {
  const model = new Model({
    cache: { to: { value: 5 }, one: ref('to.value'), far: ref('one'), lost: ref('gone.away') },
  });
  assert.equal(await model.getValue('one[null]'), 5);
  assert.equal(await model.getValue('far[null]'), 5);
  assert.deepEqual(model.read('lost[null]').missing, [['gone', 'away', null]]);
  await model.set({ path: ['one', null], value: 6 }, { path: ['lost', null], value: 7 });
  assert.deepEqual([await model.getValue('to.value'), await model.getValue('gone.away')], [6, 7]);
});

void test('values expire at their time, after their time, at once, or never', async () => {
  let now = 1_000_000;
  const cache = {
    absolute: atom('a', { $expires: 1_000_100 }),
    relative: atom('r', { $expires: -200 }),
    never: atom('n', { $expires: 1 }),
    ref: ref('target', { $expires: -100 }),
    target: { x: 1 },
  };
  const model = new Model({ cache, now: () => now });
  const paths: PathSet[] = [[['absolute', 'relative', 'never']], ['ref', 'x']];
  const there = (): string[] => Object.keys(model.read(...paths).json ?? {}).sort();
  assert.deepEqual(there(), ['absolute', 'never', 'ref', 'relative']);
  now += 99;
  assert.deepEqual(there(), ['absolute', 'never', 'ref', 'relative']);
  now += 1;
  assert.deepEqual(there(), ['never', 'relative']);
  assert.deepEqual(model.read(...paths).missing, [['absolute'], ['ref', 'x']]);
  now += 100;
  assert.deepEqual(there(), ['never']);
  assert.deepEqual(Object.keys(model.getCache()).sort(), ['never', 'target']);
});

void test('a value that expires at once is given to those who wait for it, and asked for again by others', async () => {
  const source = new ManualSource();
  const model = new Model({ source });
  const reads = [model.getValue('now'), model.getValue('now')];
  await settled();
  source.gets[0]?.answer({ now: atom(1, { $expires: 0 }) });
  assert.deepEqual(await Promise.all(reads), [1, 1]);
  assert.deepEqual(plain(model.getCache()), {});
  const next = model.getValue('now');
  await settled();
  source.gets[1]?.answer({ now: atom(2, { $expires: 0 }) });
  assert.equal(await next, 2);
});

test('an invalidation tells subscriptions to values that expired at once, also behind references', async () => {
  const source = new ManualSource();
  const cache = { list: { 0: ref('titles[5]') }, titles: { 4: { year: 1 }, 5: { year: 2 } } };
  const model = new Model({ source, cache });
  let told = 0;
  model.subscribe([['list', 0, 'name']], () => (told += 1));
  const name = model.getValue('list[0].name');
  await settled();
  source.gets[0]?.answer({ titles: { 5: { name: atom('once', { $expires: 0 }) } } });
  assert.equal(await name, 'once');
  told = 0;
  for (const [path, isTold] of [
    [['list', 0, 'name'], true],
    [['titles', '5', ['year2', 'name']], true],
    [['titles', [7, { to: 1_000_000_000 }], 'name'], true],
    [['titles', 4, 'name'], false],
    [['list', { from: 1, to: 9 }, 'name'], false],
    [['titles', 5, { to: 9 }], false],
    [['titles', 5, 'name', 'below'], true],
    [['name'], false],
  ] as const) {
    const before = told;
    model.invalidate(path);
    assert.equal(told - before, isTold ? 1 : 0, JSON.stringify(path));
  }
  // The cache has what it had.
  assert.deepEqual(plain(model.getCache()), plain(new Model({ cache }).getCache()));
});

test('an invalidation tells subscriptions to values behind references to what is not there', () => {
  const cache = { lists: { 0: ref('items[5]'), 1: ref('lists[0]'), 2: ref('lists[1].more') } };
  const model = new Model({ cache });
  for (const path of ['lists[0].name', 'lists[1].name', 'lists[2].name', 'lists[0..2].name']) {
    let told = 0;
    const stop = model.subscribe([path], () => (told += 1));
    model.invalidate('lists[3].name');
    assert.equal(told, 0, path);
    model.invalidate(path);
    assert.equal(told, 1, path);
    stop();
  }
});

test('an invalidation of many absent values that are watched takes time by their number', () => {
  const keys = Array.from({ length: 60_000 }, (_, at) => `k${at}`);
  const model = new Model({ cache: { there: 1 } });
  let told = 0;
  model.subscribe([['a', keys]], () => (told += 1));
  model.merge({ jsonGraph: { a: { there: 1 } } });
  told = 0;
  model.invalidate(['a', keys]);
  assert.equal(told, 1);
});

const sized = (value: number): object => atom(value, { $size: 100 });

void test('the least recently used values leave when the bound is passed', async () => {
  const model = new Model({ maxSize: 1000, collectRatio: 0.5 });
  for (let at = 0; at < 9; at += 1) await model.set({ path: ['v', at], value: sized(at) });
  assert.equal(Object.keys(model.getCache()['v'] as object).length, 9);
  model.read(['v', [0, 2]]);
  await model.set({ path: ['v', 9], value: sized(9) });
  assert.ok(model.getSize() <= 500);
  assert.deepEqual(Object.keys(model.getCache()['v'] as object), ['0', '2', '8', '9']);
});

void test('a reference whose target left for the bound asks for it, and finds its successor', async () => {
  const model = new Model({ cache: { r: ref('t.x', { $size: 10 }) }, maxSize: 300, collectRatio: 0.7 });
  await model.set({ path: 't.x.name', value: sized(1) });
  assert.equal(await model.getValue('r.name'), 1);
  // The values written later push the target out; the reference is kept in use.
  for (let at = 0; at < 4; at += 1) {
    model.read(['r']);
    await model.set({ path: ['other', at], value: sized(at) });
  }
  assert.deepEqual(model.read('r.name').missing, [['t', 'x', 'name']]);
  await model.set({ path: 't.x.name', value: sized(2) });
  assert.equal(await model.getValue('r.name'), 2);
});

void test('a reference through another one leads where that leads now', async () => {
  const model = new Model({
    cache: { via: ref('old'), old: { x: { y: 1 } }, new: { x: { y: 2 } }, r: ref('via.x') },
  });
  assert.equal(await model.getValue('r.y'), 1);
  await model.set({ path: 'via', value: ref('new') });
  assert.equal(await model.getValue('r.y'), 2);
});

void test('a reference into a value that expires asks for its whole path then', async () => {
  let now = 1000;
  const model = new Model({
    cache: { r: ref('short.path'), short: atom(1, { $expires: 1010 }) },
    now: () => now,
  });
  assert.equal(await model.getValue('r.x'), 1);
  now = 1010;
  assert.deepEqual(model.read('r.x').missing, [['short', 'path', 'x']]);
});

void test('listeners hear of changes once each call, and not of equal values', async () => {
  let changes = 0;
  const model = new Model({ onChange: () => (changes += 1) });
  await model.set({ path: 'a[0..9]', value: 1 });
  assert.equal(changes, 1);
  const version = model.getVersion();
  await model.set({ path: 'a[0..9]', value: 1 });
  assert.deepEqual([changes, model.getVersion()], [1, version]);
  model.invalidate('a[3]');
  assert.equal(changes, 2);
  const stop = model.onChange(() => assert.fail('It was stopped'));
  stop();
  model.setCache({});
  assert.equal(changes, 3);
});

void test('subscriptions hear of their values and of references to them, and of nothing else', async () => {
  const model = new Model({ cache: graph });
  const heard: string[] = [];
  const stops = [
    model.subscribe(['lists[0].name'], () => heard.push('first')),
    model.subscribe(['lists[1].name', 'new.path'], () => heard.push('second')),
    model.subscribe(['lists[0]'], () => heard.push('ref')),
  ];
  const after = async (path: string, value: unknown, expected: string[]): Promise<void> => {
    await model.set({ path, value: value as number });
    assert.deepEqual(heard.splice(0).sort(), expected, path);
  };
  await after('items.one.name', 'ONE', ['first']);
  await after('items.one.price', 5, []);
  await after('items.two.price', 5, []);
  // The branch `new` appears.
  await after('new.other', 5, ['second']);
  await after('new.third', 5, []);
  await after('new.path', 5, ['second']);
  await after('lists[0]', ref('items.three'), ['first', 'ref']);
  await after('items.one.name', 'unseen', []);
  await after('items.three.name', 'three', ['first']);
  await after('items', 'nothing', ['first', 'second']);
  await after('items.two.name', 'back', ['first', 'second']);
  model.invalidate('lists');
  assert.deepEqual(heard.splice(0).sort(), ['first', 'ref', 'second']);
  for (const stop of stops) stop();
  await after('items.two.name', 'unheard', []);
});

void test('a subscription outlives the values that leave for the bound', async () => {
  const model = new Model({ maxSize: 300, collectRatio: 0.5 });
  let heard = 0;
  await model.set({ path: 'a.b.c', value: sized(1) });
  model.subscribe(['a.b.c'], () => (heard += 1));
  for (let at = 0; at < 5; at += 1) await model.set({ path: ['other', at], value: sized(at) });
  assert.deepEqual([model.read('a.b.c').json, heard], [undefined, 0]);
  await model.set({ path: 'a.b.c', value: sized(2) });
  assert.equal(heard, 1);
});

void test('a listener that throws, writes or stops others does not harm the rest', async (context) => {
  const thrown: unknown[] = [];
  context.mock.method(globalThis, 'queueMicrotask', (run: () => void) => {
    try {
      run();
    } catch (problem) {
      thrown.push(problem);
    }
  });
  const model = new Model({ cache: { a: 1, b: 1 } });
  const heard: string[] = [];
  model.subscribe(['a'], () => {
    throw new Error('listener');
  });
  model.subscribe(['a'], () => {
    heard.push('a');
    stop();
    void model.set({ path: 'b', value: 2 });
  });
  const stop = model.subscribe(['a'], () => heard.push('stopped'));
  model.subscribe(['b'], () => heard.push('b'));
  await model.set({ path: 'a', value: 2 });
  assert.deepEqual(heard, ['a', 'b']);
  assert.equal(thrown.length, 1);
});

void test('names of Object.prototype are keys as any other', async () => {
  const keys = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'prototype'];
  const model = new Model({
    cache: JSON.parse('{"__proto__":{"__proto__":{"x":1}},"a":{"constructor":2}}') as JsonGraph,
  });
  assert.deepEqual(model.read([keys, keys, 'y']).json, undefined);
  assert.equal(await model.getValue(['__proto__', '__proto__', 'x']), 1);
  assert.equal(await model.getValue('a.constructor'), 2);
  assert.equal(await model.getValue('a.toString'), undefined);
  await model.set({ path: [keys, keys, 'y'], value: 'set' });
  const { json } = model.read([keys, keys, 'y']);
  for (const one of keys)
    for (const other of keys) assert.equal(await model.getValue([one, other, 'y']), 'set', `${one} ${other}`);
  assert.deepEqual(Object.keys(json as object).sort(), [...keys].sort());
  assert.equal(({} as { y?: unknown }).y, undefined);
  assert.equal(Object.getPrototypeOf(json), Object.prototype);
  assert.deepEqual(Object.getOwnPropertyNames(Object.prototype).includes('y'), false);
});

void test('path sets of too many paths are refused at once', async () => {
  const model = new Model({ cache: { a: { 0: ref('a') } } });
  const hostile: PathSet[] = [
    ['a', { to: 1e9 }],
    ['a', { to: 1e5 }, { to: 1e5 }],
    ['a', { to: 1e9 }, []],
    Array.from({ length: 60 }, () => ({ to: 1 })),
    Array<string>(300).fill('a'),
  ];
  for (const path of hostile) {
    assert.throws(() => model.read(path), PathLimitError);
    await assert.rejects(model.get(path), PathLimitError);
    await assert.rejects(model.set({ path, value: 1 }), PathLimitError);
    assert.throws(() => model.subscribe([path], () => undefined), PathLimitError);
  }
  await assert.rejects(new Model({ maxPaths: 3 }).get('a[0..3]'), PathLimitError);
  for (const path of [5, null, [{}], ['a', undefined], [() => 0]])
    await assert.rejects(model.get(path as never), PathError);
});

test('an invalidation of a range takes time by what is there', () => {
  const model = new Model({ cache: { a: { 5: 1, 7: 2, x: 3 } } });
  model.invalidate(['a', { from: 6, to: 1e15 }]);
  assert.deepEqual(plain(model.getCache()), { a: { 5: 1, x: 3 } });
  const twice = Array.from({ length: 2000 }, () => 'a');
  model.invalidate([twice, twice, twice, twice]);
  model.invalidate([]);
  assert.deepEqual([plain(model.getCache()), model.getSize()], [{}, 0]);
});

void test('references that lead back do not multiply the work of an invalidation', () => {
  const model = new Model({ cache: { a: { 0: ref('a'), 1: ref('a'), x: 1 } } });
  model.invalidate(['a', ...Array.from({ length: 200 }, () => [0, 1]), 'x']);
  assert.deepEqual(Object.keys(model.getCache()['a'] as object), ['0', '1']);
});

void test('references that lead to each other end with an error', async () => {
  const model = new Model({
    cache: {
      self: ref('self'),
      one: ref('two'),
      two: ref('one'),
      under: { x: ref('under.x.y') },
      deep: { a: ref('deep.b.z'), b: ref('deep.a.z') },
    },
  });
  for (const path of ['self.x', 'one.x', 'under.x.z', 'deep.a.x']) {
    assert.throws(() => model.read(path), ReferenceLoopError, path);
    await assert.rejects(model.get(path), ReferenceLoopError, path);
    await assert.rejects(model.set({ path: [...path.split('.'), 'w'], value: 1 }), ReferenceLoopError, path);
    model.subscribe([path], () => undefined);
  }
  assert.throws(() => model.read('one[null]'), ReferenceLoopError);
  assert.equal(model.read('self').json, undefined);
  const chain = Object.fromEntries(Array.from({ length: 63 }, (_, at) => [`r${at}`, ref(`r${at + 1}`)]));
  assert.equal(await new Model({ cache: { ...chain, r63: 'end' } }).getValue('r0[null]'), 'end');
});

void test('references that are no paths are refused', async () => {
  const model = new Model();
  for (const value of ['text', 5, [{ to: 5 }], [['a']], undefined, Array<string>(300).fill('a')])
    await assert.rejects(model.set({ path: 'a', value: { $type: 'ref', value } as never }), /path|key/u);
  assert.deepEqual(plain(model.getCache()), {});
});
