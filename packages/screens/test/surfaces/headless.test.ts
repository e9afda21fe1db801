// The surface without pictures: refusals, layout, precedence, motions, events.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { PROPERTIES } from '../../src/stream/codes.ts';
import { StreamError } from '../../src/stream/errors.ts';
import { readEvents } from '../../src/stream/events.ts';
import { parseBatch } from '../../src/stream/parse.ts';
import type { Box } from '../../src/surfaces/core/box.ts';
import { fixedWidth } from '../../src/surfaces/core/paragraph.ts';
import { Tree } from '../../src/surfaces/core/tree.ts';
import { HeadlessSurface } from '../../src/surfaces/headless.ts';
import { histories, words } from '../support/batches.ts';
import { runs } from '../support/seed.ts';

function commit(surface: HeadlessSurface, text: string, cause = 0): void {
  const batch = parseBatch(text);
  surface.commit(batch.words, batch.length, batch.strings, cause);
}

/** A surface, and events as lines of text. */
function opened(options?: ConstructorParameters<typeof HeadlessSurface>[0]): {
  surface: HeadlessSurface;
  said: string[];
} {
  const surface = new HeadlessSurface(options);
  const said: string[] = [];
  const say =
    (name: string) =>
    (...values: unknown[]): void => {
      said.push([name, ...values].join(' '));
    };
  surface.listen((words, length, strings) =>
    readEvents(words, length, strings, {
      key: say('key'),
      layout: say('layout'),
      animationEnd: say('end'),
      image: say('image'),
      memory: say('memory'),
      resize: say('resize'),
      frame: say('frame'),
    }),
  );
  return { surface, said };
}

test('words at random are refused whole or applied, and nothing else is thrown', () => {
  fc.assert(
    fc.property(histories, words, (history, noise) => {
      const surface = new HeadlessSurface();
      for (const text of history) commit(surface, text);
      const before = [surface.tree(), surface.widgets, surface.commands, surface.focused];
      try {
        surface.commit(noise.words, noise.length, noise.strings, 0);
      } catch (error) {
        assert.ok(error instanceof StreamError, String(error));
        assert.deepEqual([surface.tree(), surface.widgets, surface.commands, surface.focused], before);
      }
      surface.advance(20);
    }),
    runs(400),
  );
});

test('a batch with a fault at its end leaves nothing of its beginning', () => {
  const { surface } = opened();
  commit(surface, 'create 1\nplace 0 1 0\ncreate 2\nplace 1 2 0\ndefine 1 { number width 3 }');
  const faults: readonly [string, RegExp][] = [
    ['create 1', /there is a widget 1/],
    ['create 0', /no number for a widget/],
    ['remove 1\ncreate 2', /there is a widget 2/],
    ['remove 1\nnumber width 2 3', /2 has been removed/],
    ['remove 1\nremove 2', /2 has been removed/],
    ['remove 1\nremove 1', /1 has been removed/],
    ['place 2 1 0', /inside itself/],
    ['place 1 1 0', /inside itself/],
    ['place 0 2 2', /no other child/],
    ['place 0 1 2', /no other child/],
    ['create 3\nplace 0 3 2', /2 is no other child of 0/],
    ['focus 3', /no widget 3/],
    ['style 1 2', /no style 2/],
    ['style 1 -1', /no style -1/],
    ['define 1 {}', /defined already/],
    ['define 2 {}\ndefine 2 {}', /defined already/],
    ['define 0 {}', /no number for a style/],
    ['transition x 1 1 1 9', /easing 9/],
    ['number width 0 3', /no widget 0/],
  ];
  const before = surface.tree();
  for (const [fault, message] of faults) {
    const text = `create 8\nplace 1 8 2\nnumber width 1 77\n${fault}`;
    assert.throws(() => commit(surface, text), message, fault);
    assert.equal(surface.tree(), before);
    assert.equal(surface.widgets, 2);
  }
  const raw: readonly [readonly number[], RegExp][] = [
    [[1], /word is missing/],
    [[99, 1], /command 99 is unknown/],
    [[0], /command 0 is unknown/],
    [[1 | (1 << 8), 9], /is unknown/],
    [[4 | (1 << 16), 1, 0], /is unknown/],
    [[7 | (60 << 8), 1, 0], /no string 0/],
    [[7 | (250 << 8), 1, -1], /no string -1/],
    [[11, 5, 3, 4 | (12 << 8), 0], /word is missing/],
    [[11, 5, 1, 4 | (12 << 8), 0], /word is missing/],
    [[11, 5, -1], /word is missing/],
    [[11, 5, 1, 1], /command 1 in a style/],
  ];
  for (const [values, message] of raw)
    assert.throws(
      () => surface.commit(Int32Array.from(values), values.length, [], 0),
      message,
      values.join(' '),
    );
  assert.throws(() => surface.commit(new Int32Array(1), 2, [], 0), /array of 1/);
});

test('levels that a widget had below it before do not count', () => {
  const surface = new HeadlessSurface({ width: 100, height: 100 });
  const chain = (from: number, to: number): string[] =>
    Array.from({ length: to - from }, (_, at) => `place ${from + at} ${from + at + 1} 0`);
  const created = Array.from({ length: 300 }, (_, at) => `create ${at + 1}`);
  commit(
    surface,
    [...created, 'place 0 1 0', 'place 0 2 0', ...chain(2, 102), ...chain(200, 300)].join('\n'),
  );
  commit(surface, 'place 0 3 0');
  // The second widget had a hundred levels below it.
  commit(surface, 'place 299 2 0');
  surface.advance(0);
  assert.throws(() => commit(surface, 'place 299 3 0'), /levels deep, limit is 160/);
});

test('widgets nested deeper than Yoga can lay out are refused, whichever end they are built from', () => {
  const { surface } = opened();
  const ids = Array.from({ length: 400 }, (_, index) => index + 1);
  const created = ids.map((id) => `create ${id}`).join('\n');
  const placed = ids.map((id) => `place ${id - 1} ${id} 0`);
  for (const order of [placed, placed.toReversed()])
    assert.throws(() => commit(surface, `${created}\n${order.join('\n')}`), /levels deep, limit is 160/);
  assert.equal(surface.widgets, 0);
  for (const order of [placed.slice(0, 160), placed.slice(0, 160).toReversed()]) {
    commit(surface, `${created}\n${order.join('\n')}\nstring text 160 "a"`);
    assert.equal(surface.rect(160)?.height, 30);
    assert.throws(() => commit(surface, 'place 160 161 0'), /161 levels/);
    commit(
      surface,
      `remove 1\n${ids
        .slice(160)
        .map((id) => `remove ${id}`)
        .join('\n')}`,
    );
  }
});

test('a surface ignores properties that it does not know, and values that a property cannot have', () => {
  const { surface } = opened();
  commit(surface, 'create 1\nplace 0 1 0\nnumber width 1 30\nnumber height 1 40');
  commit(
    surface,
    'number #200 1 3\npercent opacity 1 50\nnumber width 1 NaN\nstring width 1 "a"\ninteger display 1 7\nnumber height 1 Infinity',
  );
  assert.equal(surface.tree(), '1 0,0 30x40\n');
});

test('layout is a column without shrinking, with border-box sizes', () => {
  const { surface } = opened({ width: 200, height: 100 });
  commit(
    surface,
    `create 1\nplace 0 1 0\nnumber paddingLeft 1 10\nnumber borderWidth 1 2
create 2\nplace 1 2 0\nnumber height 2 80
create 3\nplace 1 3 0\nnumber height 3 80\nnumber width 3 50\nnumber paddingLeft 3 20
create 4\nplace 1 4 3\nstring text 4 "eight ch and more"\nnumber maxWidth 4 96`,
  );
  assert.equal(
    surface.tree(),
    `1 0,0 200x224
  2 12,2 186x80
  4 12,82 96x60 text="eight ch and more"
  3 12,142 50x80
`,
  );
});

test('text wraps at spaces and line ends, and ends with an ellipsis', () => {
  const { surface } = opened();
  const text = (words: string): void =>
    commit(surface, `create 1\nplace 0 1 0\ninteger alignSelf 1 flex-start\nnumber fontSize 1 10\n${words}`);
  text('string text 1 "ab\\ncde"');
  assert.deepEqual(surface.rect(1), { x: 0, y: 0, width: 15, height: 25 });
  commit(surface, 'remove 1');
  text('string text 1 "aa bb cc dd"\nnumber width 1 25\ninteger maxLines 1 1');
  assert.deepEqual(surface.rect(1), { x: 0, y: 0, width: 25, height: 13 });
  commit(surface, 'integer maxLines 1 0');
  assert.equal(surface.rect(1)?.height, 25);
  commit(surface, 'create 2\nplace 1 2 0\nnumber height 2 7');
  assert.equal(surface.rect(1)?.height, 7, 'a widget with children shows no text');
  commit(surface, 'remove 2');
  assert.equal(surface.rect(1)?.height, 25);
  commit(surface, 'string text 1 ""');
  assert.equal(surface.rect(1)?.height, 0);
});

test('the focus style comes before own values, these before the shared style', () => {
  const { surface } = opened();
  commit(
    surface,
    `define 1 { number x 1; number y 1; number scale 2 }\ndefine 2 { number x 3 }
create 1\nplace 0 1 0\nstyle 1 1\nfocus-style 1 2\nnumber x 1 2`,
  );
  const values = (): unknown[] => ['x', 'y', 'scale'].map((name) => surface.value(1, name as 'x'));
  assert.deepEqual(values(), [2, 1, 2]);
  commit(surface, 'focus 1');
  assert.deepEqual(values(), [3, 1, 2]);
  commit(surface, 'reset x 1\nstyle 1 0');
  assert.deepEqual(values(), [3, 0, 1]);
  commit(surface, 'style 1 1\nfocus 0');
  assert.deepEqual(values(), [1, 1, 2]);
});

test('a transition moves what styles change, from the second frame on, and turns around on its way', () => {
  const { surface, said } = opened();
  commit(
    surface,
    'create 1\nplace 0 1 0\ntransition x 1 100 0 linear\nnumber x 1 50\ninteger reports 1 true',
  );
  assert.equal(surface.value(1, 'x'), 50, 'at once before the first frame');
  surface.advance(0);
  commit(surface, 'number x 1 150');
  surface.advance(0);
  surface.advance(50);
  assert.equal(surface.value(1, 'x'), 100);
  commit(surface, 'number x 1 0');
  surface.advance(0);
  surface.advance(50);
  assert.equal(surface.value(1, 'x'), 50);
  said.length = 0;
  surface.advance(50);
  assert.equal(surface.value(1, 'x'), 0);
  assert.deepEqual(said, ['end 1 41']);
  assert.ok(!surface.isMoving);
});

test('a value that turns around between two frames turns where it is by then', () => {
  const tree = new Tree(fixedWidth);
  const box = (text: string, time_ms: number): Box | undefined => {
    tree.apply(parseBatch(text), time_ms);
    return tree.boxes.get(1);
  };
  box('create 1\nplace 0 1 0\ntransition x 1 100 0 linear', 0);
  for (const each of tree.changes.painted) each.wasDrawn = true;
  box('number x 1 100', 0);
  const turned = box('number x 1 0', 80);
  tree.step(90, () => undefined);
  assert.equal(turned?.get(PROPERTIES.x.code), 72);
});

test('a focus style moves by its own transition, colours too', () => {
  const { surface } = opened();
  commit(
    surface,
    `define 1 { integer background #ff000080; transition background 100 0 linear }
create 1\nplace 0 1 0\nfocus-style 1 1`,
  );
  surface.advance(0);
  commit(surface, 'focus 1');
  surface.advance(0);
  surface.advance(50);
  assert.equal(surface.value(1, 'background'), '#ff000040');
  commit(surface, 'focus 0');
  assert.equal(surface.value(1, 'background'), '#00000000', 'the way back has no transition');
});

test('an animation hides styles until it is stopped, repeats and goes back', () => {
  const { surface, said } = opened();
  commit(surface, 'create 1\nplace 0 1 0\ninteger reports 1 true\nnumber x 1 7');
  surface.advance(0);
  commit(surface, `animate x 1 0 100 100 0 linear ${1 | (1 << 16)}`);
  surface.advance(0);
  surface.advance(75);
  assert.equal(surface.value(1, 'x'), 75);
  commit(surface, 'number x 1 9');
  surface.advance(50);
  assert.equal(surface.value(1, 'x'), 75, 'on its way back');
  surface.advance(100);
  assert.equal(surface.value(1, 'x'), 0, 'the end value of two runs stays');
  assert.ok(said.includes('end 1 41'));
  commit(surface, 'stop x 1');
  assert.equal(surface.value(1, 'x'), 9);
  commit(surface, 'animate x 1 NaN 19 0 0 linear 65535');
  surface.advance(0);
  assert.equal(surface.value(1, 'x'), 19, 'no time is the end at once');
  commit(surface, 'animate opacity 1 1 0 10 0 ease 65535');
  surface.advance(10_000);
  assert.ok(surface.isMoving, 'without end');
  commit(surface, 'remove 1');
  assert.ok(!surface.isMoving);
});

test('an animation of a colour has it in the bits of its floats', () => {
  const { surface } = opened();
  commit(surface, 'create 1\nplace 0 1 0\ninteger background 1 #000000ff');
  const color = 0xff0000ff | 0;
  const float = new Float32Array(Int32Array.of(100).buffer);
  float[0] = 100;
  const [duration = 0] = new Int32Array(float.buffer);
  surface.commit(Int32Array.of(14 | (47 << 8), 1, 0x7fc00000, color, duration, 0, 0, 0), 8, [], 0);
  surface.advance(0);
  surface.advance(50);
  assert.equal(surface.value(1, 'background'), '#800000ff');
  surface.advance(50);
  assert.equal(surface.value(1, 'background'), '#ff0000ff');
});

test('places are reported once, without shifts, and again when they change', () => {
  const { surface, said } = opened();
  commit(
    surface,
    'create 1\nplace 0 1 0\nnumber x 1 5\nnumber height 1 10\ncreate 2\nplace 0 2 0\nnumber height 2 10\ninteger reports 2 true',
  );
  surface.advance(0);
  assert.deepEqual(said, ['layout 2 0 10 1280 10', 'frame 0 0 0']);
  said.length = 0;
  commit(surface, 'number height 1 20\ninteger reports 1 true', 3);
  surface.advance(0);
  assert.deepEqual(said, ['layout 2 0 20 1280 10', 'layout 1 0 0 1280 20', 'frame 3 0 0']);
  said.length = 0;
  commit(surface, 'integer display 1 none');
  surface.advance(0);
  assert.deepEqual(said, ['layout 2 0 0 1280 10', 'frame 0 0 0']);
});

test('keys, images, memory and sizes are told', () => {
  const { surface, said } = opened({ hasImage: (address) => address === 'a.png' });
  surface.press('Enter', 1);
  assert.deepEqual(said, ['key 0 1 0 Enter', 'key 1 2 0 Enter', 'key 2 3 0 Enter']);
  said.length = 0;
  commit(surface, 'create 1\nplace 0 1 0\ninteger reports 1 true\nstring image 1 "a.png"');
  surface.advance(0);
  commit(surface, 'string image 1 "b.png"');
  surface.memory(2);
  surface.resize(640, 360);
  surface.advance(0);
  assert.deepEqual(
    said.filter((event) => !event.startsWith('frame')),
    ['layout 1 0 0 1280 0', 'image 1 1', 'memory 2', 'resize 640 360', 'layout 1 0 0 640 0', 'image 1 2'],
  );
  let left = 0;
  surface.requestIdle((deadline) => {
    left = deadline();
  });
  surface.advance(1);
  assert.equal(left, 10);
});
