// Where boxes are, and how much of the whole a search finds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byOwner, type FlameData, matched, treeOf } from '../src/data.ts';

/** `main` calls `a` twice over, which calls itself, and `b`; the collector stands beside it. */
const DATA: FlameData = {
  title: 'worker 1',
  unit: 'us',
  facts: [],
  owners: ['(root)', 'app', '(garbage collector)'],
  frames: [
    ['(root)', '', 0],
    ['main', 'app.js:1:1', 1],
    ['a', 'app.js:5:1', 1],
    ['b', 'app.js:9:1', 1],
    ['(garbage collector)', '', 2],
  ],
  parents: [0, 0, 1, 2, 1, 0],
  stack_frames: [0, 1, 2, 2, 3, 4],
  selves: [0, 5, 10, 20, 40, 25],
  components: [],
  places: [],
};

void test('a box is as wide as all below it, and the widest of a caller stand first', () => {
  const tree = treeOf(DATA);
  assert.deepEqual([...tree.totals], [100, 75, 30, 20, 40, 25]);
  assert.deepEqual([...tree.starts], [0, 0, 40, 40, 0, 75]);
  assert.deepEqual([...tree.depths], [0, 1, 2, 3, 2, 1]);
  assert.equal(tree.depth_max, 3);
});

void test('what is within a match of the same search counts once', () => {
  const tree = treeOf(DATA);
  const named = (name: string) => DATA.frames.map(([own]) => own === name);
  assert.equal(matched(DATA, tree, named('a')), 30);
  assert.equal(matched(DATA, tree, named('main')), 75);
  assert.equal(matched(DATA, tree, named('nobody')), 0);
});

void test('the collector stands apart from the app', () => {
  assert.deepEqual(byOwner(DATA), [
    { owner: 'app', own: 75 },
    { owner: '(garbage collector)', own: 25 },
  ]);
});
