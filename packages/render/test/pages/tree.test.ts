// The language of trees: paths, values and conditions that are data, and which trees are refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { seed } from '../../../../tests/support/chance.js';
import { holds, resolve, type Condition } from '../../src/pages/bind.js';
import { checkTree, InvalidTree, NODES_MAX } from '../../src/pages/check.js';
import { parsePath, valueAt, type Scope } from '../../src/pages/path.js';
import { BOXES_MAX, Planner } from '../../src/pages/plan.js';
import { Sources } from '../../src/pages/sources.js';
import type { TreeNode } from '../../src/pages/tree.js';

const scope: Scope = {
  root: { product: { title: 'Shoe', images: [{ url: '/a' }, { url: '/b' }], price: null }, 'odd name': 1 },
  item: { n: 7 },
};
const at = (text: string, within = scope): unknown => {
  const path = parsePath(text);
  assert.ok(path, text);
  return valueAt(path, within);
};

void test('a path gives the value at its steps, from the page or from the item', () => {
  assert.equal(at('$.product.title'), 'Shoe');
  assert.equal(at('$.product.images[1].url'), '/b');
  assert.equal(at('$.product.images[-1].url'), '/b');
  assert.equal(at("$['odd name']"), 1);
  assert.equal(at('$["odd name"]'), 1);
  assert.equal(at('@.n'), 7);
  assert.deepEqual(at('@'), { n: 7 });
});

void test('a path into nothing gives undefined, also on the way of prototypes', () => {
  for (const text of [
    '$.nothing.there',
    '$.product.title.length',
    '$.product.images.length',
    '$.product.images.map',
    '$.constructor.constructor',
    '$.__proto__.polluted',
    '$.product.price.amount',
    '$.product.images[5]',
    '$.toString',
  ]) {
    assert.equal(at(text), undefined, text);
  }
});

void test('a text that is no path is refused', () => {
  for (const text of [
    '',
    'product',
    '$.',
    '$..a',
    '$[a]',
    '$[01]',
    '$.a b',
    '$[?(@.a)]',
    '$.a[*]',
    "$['a",
    '$.a.',
  ]) {
    assert.equal(parsePath(text), undefined, text);
  }
});

void test('values are bound wherever they are in props, and absent ones are left out', () => {
  const bound = {
    title: { $path: '$.product.title' },
    none: { $path: '$.product.nothing' },
    other: { $path: '$.product.nothing', default: 3 },
    list: [{ $path: '$.product.nothing' }, { deep: { $path: '@.n' } }],
  };
  assert.deepEqual(resolve(bound, scope), { title: 'Shoe', other: 3, list: [null, { deep: 7 }] });
});

void test('data that looks like a binding is data', () => {
  const data: Scope = { root: { text: { $path: '$.secret' }, secret: 's' } };
  assert.deepEqual(resolve({ text: { $path: '$.text' } }, data), { text: { $path: '$.secret' } });
});

void test('a value named __proto__ does not become a prototype', () => {
  const bound: unknown = JSON.parse('{"__proto__":{"isAdmin":true}}');
  const value = resolve(bound, scope) as { isAdmin?: boolean };
  assert.equal(value.isAdmin, undefined);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

void test('conditions hold as they say', () => {
  const cases: [Condition, boolean][] = [
    [{ exists: '$.product' }, true],
    [{ exists: '$.product.price' }, false],
    [{ equals: [{ $path: '@.n' }, 7] }, true],
    [{ equals: [{ $path: '$.product.images' }, [{ url: '/a' }, { url: '/b' }]] }, true],
    [{ equals: [1, '1'] }, false],
    [{ not: { exists: '$.nothing' } }, true],
    [{ any: [] }, false],
    [{ all: [] }, true],
    [{ all: [{ exists: '@' }, { any: [{ exists: '$.no' }, { exists: '$.product' }] }] }, true],
  ];
  for (const [condition, expected] of cases)
    assert.equal(holds(condition, scope), expected, JSON.stringify(condition));
});

void test('a tree that is none is refused with the place of the mistake', () => {
  const box = { component: 'Text' };
  const cases: [unknown, string][] = [
    [undefined, 'tree'],
    [{ boxes: {} }, 'boxes'],
    [{ boxes: [], script: 1 }, 'tree.script'],
    [{ boxes: [{}] }, 'boxes[0].component'],
    [{ boxes: [box, { ...box, onclick: 'x' }] }, 'boxes[1].onclick'],
    [{ boxes: [{ ...box, props: { a: [{ $path: 'x' }] } }] }, 'boxes[0].props.a[0].$path'],
    [{ boxes: [{ ...box, props: { a: { $path: '$.a', or: 1 } } }] }, 'boxes[0].props.a.or'],
    [{ boxes: [{ ...box, if: { exists: '$.a', not: {} } }] }, 'boxes[0].if'],
    [{ boxes: [{ ...box, if: { matches: '.*' } }] }, 'boxes[0].if'],
    [{ boxes: [{ ...box, if: { all: [{ equals: [1] }] } }] }, 'boxes[0].if.all[0].equals'],
    [{ boxes: [{ ...box, each: 'list' }] }, 'boxes[0].each'],
    [{ boxes: [{ ...box, slots: { 'a b': [] } }] }, 'boxes[0].slots'],
    [{ boxes: [{ ...box, slots: { main: [{ component: '' }] } }] }, 'boxes[0].slots.main[0].component'],
    [{ boxes: [{ ...box, id: 'b1' }] }, 'boxes[0].id'],
    [
      {
        boxes: [
          { ...box, id: 'a' },
          { ...box, id: 'a' },
        ],
      },
      'boxes[1].id',
    ],
    [{ boxes: [{ ...box, data: { a: { url: 'file:///etc/passwd' } } }] }, 'boxes[0].data.a.url'],
    [{ boxes: [{ ...box, data: { a: { url: 'http://a/', timeoutMs: 0 } } }] }, 'boxes[0].data.a.timeoutMs'],
    [{ boxes: [], status: 99 }, 'status'],
    [{ boxes: [], id: '"><script>' }, 'id'],
    [{ boxes: [], document: { head: '<script>' } }, 'document.head'],
    [{ boxes: [], document: { links: [{ rel: 'stylesheet', href: '/x' }] } }, 'document.links[0].rel'],
    [
      { boxes: [], document: { meta: [{ 'http-equiv': 'refresh', content: '0' }] } },
      'document.meta[0].http-equiv',
    ],
  ];
  for (const [tree, place] of cases) {
    assert.throws(
      () => checkTree(tree),
      (error) => error instanceof InvalidTree && error.at === place,
      `${place}: ${JSON.stringify(tree)}`,
    );
  }
});

void test('a tree with too many nodes is refused, and one that is too deep', () => {
  const wide = { boxes: Array.from({ length: NODES_MAX + 1 }, () => ({ component: 'Text' })) };
  assert.throws(() => checkTree(wide), InvalidTree);
  let deep: TreeNode = { component: 'Text' };
  for (let level = 0; level < 40; level += 1) deep = { component: 'Frame', slots: { main: [deep] } };
  assert.throws(() => checkTree({ boxes: [deep] }), /slots deep/);
});

void test('whatever is posted as a tree is a tree or is refused, and never an error of another kind', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 6 }),
      fc.constantFrom('boxes', 'data', 'document', 'status'),
      (value, key) => {
        try {
          checkTree({ boxes: [], [key]: value });
        } catch (error) {
          assert.ok(error instanceof InvalidTree, String(error));
        }
      },
    ),
    { seed },
  );
});

const planner = (): Planner =>
  new Planner(new Sources().of({ request: undefined, signal: new AbortController().signal }));

void test('repeated boxes have ids of their own, also where the tree names them', () => {
  const items = planner().plan(
    [
      {
        component: 'Frame',
        each: '$.rows',
        slots: { main: [{ component: 'Text', id: 'cell', each: '@.cells' }, { component: 'Text' }] },
      },
    ],
    { root: { rows: [{ cells: [1, 2] }, { cells: [3] }] } },
  );
  const ids = items.flatMap((item) => [
    item.id,
    ...(item.kind === 'box' ? [...item.slots.values()].flat().map(({ id }) => id) : []),
  ]);
  assert.deepEqual(ids, ['b0-0', 'cell-0-0', 'cell-0-1', 'b0-0-1', 'b0-1', 'cell-1-0', 'b0-1-1']);
});

void test('repetitions within repetitions come to an end', () => {
  const list = Array.from({ length: BOXES_MAX }, (_, index) => index);
  const never: Condition = { exists: '$.nothing' };
  assert.throws(
    () => planner().plan([{ component: 'Text', each: '$.list' }], { root: { list: [...list, 0] } }),
    /boxes/,
  );
  const inner: TreeNode = { component: 'Text', each: '$.list', if: never };
  const outer: TreeNode = { component: 'Frame', each: '$.list', slots: { main: [inner] } };
  assert.throws(() => planner().plan([outer], { root: { list } }), InvalidTree);
});

void test('a box is hydrated at one of the times, or by a media query', () => {
  const tree = (hydration: string): unknown => ({ boxes: [{ component: 'Text', hydration }] });
  for (const good of ['load', 'idle', 'visible', 'interaction', 'media (min-width: 600px)', 'media print'])
    checkTree(tree(good));
  for (const bad of ['', 'soon', 'media', 'media ', 'media  (min-width: 1px)', `media ${'x'.repeat(200)}`])
    assert.throws(() => checkTree(tree(bad)), /boxes\[0\]\.hydration: is none of load/, bad);
});
