// Focus: by declaration, by keys, and back when its widget goes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBack } from '../../src/focus/key.ts';
import type { FocusArea } from '../../src/focus/node.ts';
import { World } from '../support/world.ts';

const row = (area: Partial<FocusArea> = {}) => ({ focusArea: { direction: 'row', ...area } }) as const;
const column = (area: Partial<FocusArea> = {}) => ({ focusArea: { direction: 'column', ...area } }) as const;

/** Two rows of three below each other. */
function rows(area: Partial<FocusArea> = {}): World {
  const world = new World();
  world.stops(world.add('one', row(area)), 'a1', 'a2', 'a3');
  world.stops(world.add('two', row(area)), 'b1', 'b2', 'b3');
  world.settle();
  return world;
}

test('the first widget that can have the focus gets it', () => {
  const world = rows();
  assert.equal(world.focused, 'a1');
  assert.deepEqual(world.sent, [world.get('a1').id]);
});

test('arrows go along rows and columns, end at their ends, and each row remembers', () => {
  const world = rows();
  assert.equal(world.go('rr'), 'a3');
  assert.equal(world.go('r'), 'a3');
  assert.equal(world.go('d'), 'b1');
  assert.equal(world.go('rd'), 'b2');
  assert.equal(world.go('u'), 'a3');
  assert.equal(world.go('d'), 'b2');
  assert.equal(world.go('lll'), 'b1');
  const forgetful = rows({ remember: false });
  assert.equal(forgetful.go('rrd'), 'b1');
  assert.equal(forgetful.go('u'), 'a1');
  const first = rows({ enter: 'first' });
  assert.equal(first.go('rrdru'), 'a1');
});

test('an area that wraps goes on at its other end, one that traps keeps the focus', () => {
  const world = rows({ wrap: true, trap: true });
  assert.equal(world.go('l'), 'a3');
  assert.equal(world.go('r'), 'a1');
  assert.equal(world.go('d'), 'a1');
});

test('a row inside a row is entered at the near side, and the far side without memory', () => {
  const world = new World();
  const outer = world.add('outer', row());
  world.stops(outer, 'left');
  const inner = world.add('inner', row({ remember: false }), outer);
  world.stops(inner, 'i1', 'i2');
  world.stops(outer, 'right');
  world.settle();
  assert.equal(world.go('r'), 'i1');
  assert.equal(world.go('rr'), 'right');
  assert.equal(world.go('l'), 'i2');
});

test('hidden widgets and areas without a visible one are passed over', () => {
  const world = rows();
  world.set(world.get('a2'), { focusable: true, style: { display: 'none' } });
  world.set(world.get('two'), { ...row(), staticStyle: { display: 'none' } });
  world.stops(world.add('three', row()), 'c1');
  world.settle();
  assert.equal(world.go('r'), 'a3');
  assert.equal(world.go('d'), 'c1');
  world.set(world.get('three'), { ...row(), style: { display: 'none' } });
  world.settle();
  assert.equal(world.focused, 'a3', 'out of what gets hidden');
});

test('a grid goes by lines and columns, a spatial area by what lies in the way', () => {
  const world = new World();
  const grid = world.add('grid', { focusArea: { direction: 'grid' } });
  world.stops(grid, ['a', 0, 0], ['b', 110, 0], ['c', 220, 0], ['d', 0, 110], ['e', 110, 110]);
  world.settle();
  assert.equal(world.reports.get(world.get('e').id), true, 'places are asked for');
  assert.equal(world.go('rr'), 'c');
  assert.equal(world.go('d'), 'e', 'the nearest of the line below');
  assert.equal(world.go('r'), 'e', 'nothing of this line');
  assert.equal(world.go('u'), 'b');
  const free = new World();
  const area = free.add('area', { focusArea: { direction: 'spatial' } });
  free.stops(area, ['a', 0, 0], ['b', 300, 160], ['c', 800, 0]);
  free.settle();
  assert.equal(free.go('r'), 'b', 'off the way, but much nearer');
  assert.equal(free.go('l'), 'a');
});

test('an area that is entered at the nearest widget counts scrolled content where it is seen', () => {
  const world = new World();
  const top = world.add('top', row({ enter: 'nearest' }));
  const content = world.add('content', { style: { x: -220 } }, top);
  world.stops(content, ['a1', 0, 0], ['a2', 110, 0], ['a3', 220, 0], ['a4', 330, 0]);
  world.stops(world.add('below', row({ enter: 'nearest' })), ['b1', 0, 110], ['b2', 110, 110]);
  world.settle();
  world.manager.focus(world.get('b2'));
  assert.equal(world.go('u'), 'a4');
  assert.equal(world.go('ld'), 'b1');
});

test('the last widget that is declared focused has the focus, and gives it back', () => {
  const world = rows();
  world.go('r');
  const dialog = world.add('dialog', column({ trap: true }));
  world.stops(dialog, 'x1');
  world.add('x2', { focusable: true, focused: true }, dialog);
  world.settle();
  assert.equal(world.focused, 'x2');
  world.add('alert', { focused: true });
  world.settle();
  assert.equal(world.focused, 'alert');
  world.set(world.get('x2'), { focusable: true });
  world.settle();
  assert.equal(world.focused, 'alert', 'it had not got the focus any more');
  world.remove(world.get('alert'));
  world.settle();
  assert.equal(world.focused, 'a2', 'back to where the focus was before the dialog');
});

test('a declaration that moves from widget to widget gives the focus back to who had it before the first', () => {
  for (const order of ['take first', 'give first']) {
    const world = rows();
    world.go('r');
    const before = { focusable: true, focused: false } as const;
    const after = { focusable: true, focused: true } as const;
    world.set(world.get('b1'), after);
    world.settle();
    const steps = [() => world.set(world.get('b1'), before), () => world.set(world.get('b2'), after)];
    for (const step of order === 'take first' ? steps : steps.toReversed()) step();
    world.settle();
    assert.equal(world.focused, 'b2', order);
    world.set(world.get('b2'), before);
    world.settle();
    assert.equal(world.focused, 'a2', order);
  }
});

test('an area that is declared focused passes the focus on, and gives it back from any of its widgets', () => {
  const world = rows();
  const menu = world.add('menu', { ...column(), focused: true });
  world.stops(menu, 'm1', 'm2');
  world.settle();
  assert.equal(world.focused, 'm1');
  world.go('d');
  world.set(menu, { ...column(), focused: false });
  world.settle();
  assert.equal(world.focused, 'a1');
});

test('when its widget goes, the focus is on the neighbour, then outward', () => {
  const world = rows();
  world.go('r');
  world.remove(world.get('a2'));
  world.settle();
  assert.equal(world.focused, 'a3');
  world.remove(world.get('a3'));
  world.settle();
  assert.equal(world.focused, 'a1');
  world.remove(world.get('one'));
  world.settle();
  assert.equal(world.focused, 'b1');
  world.remove(world.get('two'));
  world.settle();
  assert.equal(world.focused, 'none');
  assert.equal(world.sent.at(-1), 0);
  world.stops(world.root, 'new');
  world.settle();
  assert.equal(world.focused, 'new');
});

test('a move sends one command, and tells those that ask', () => {
  const world = rows();
  const said: string[] = [];
  for (const name of ['a1', 'a2'])
    world.set(world.get(name), {
      focusable: true,
      onFocus: () => said.push(`${name} on`),
      onBlur: () => said.push(`${name} off`),
    });
  world.settle();
  world.sent.length = 0;
  world.go('r');
  assert.deepEqual(said, ['a1 off', 'a2 on']);
  assert.deepEqual(world.sent, [world.get('a2').id]);
  world.remove(world.get('a2'));
  world.settle();
  assert.deepEqual(said.length, 2, 'a widget that is gone hears nothing');
});

test('keys bubble until one has used them, and only then do they not move the focus', () => {
  const world = rows();
  const said: string[] = [];
  world.set(world.get('a1'), {
    focusable: true,
    onKey: (event) => {
      said.push(`a1 ${event.key}`);
      if (event.key === 'ArrowRight') event.preventDefault();
    },
  });
  world.set(world.get('one'), {
    ...row(),
    onKey: ({ key }) => said.push(`one ${key}${isBack({ key }) ? ' back' : ''}`) > 0 && key === 'ArrowDown',
    onKeyUp: ({ key }) => said.push(`up ${key}`),
  });
  assert.equal(world.go('rd'), 'a1');
  world.key('Escape');
  world.key('Escape', 2);
  assert.deepEqual(said, [
    'a1 ArrowRight',
    'a1 ArrowDown',
    'one ArrowDown',
    'a1 Escape',
    'one Escape back',
    'up Escape',
  ]);
});

test('a long press is no press, a short one is one when it is released', () => {
  const world = rows();
  const said: string[] = [];
  world.set(world.get('one'), {
    ...row(),
    onLongPress: () => said.push('long'),
    onKeyUp: () => said.push('up'),
  });
  world.set(world.get('a1'), { focusable: true, onKey: ({ key }) => said.push(key) < 0 });
  world.key('Enter');
  assert.deepEqual(said, [], 'held back');
  world.key('Enter', 2);
  assert.deepEqual(said.splice(0), ['Enter', 'up']);
  world.key('Enter');
  world.later[0]?.();
  world.key('Enter', 1);
  world.key('Enter', 2);
  assert.deepEqual(said.splice(0), ['long'], 'by the clock');
  world.key('Enter');
  world.time = 499;
  world.key('Enter', 1);
  world.time = 510;
  world.key('Enter', 1);
  world.key('Enter', 1);
  world.key('Enter', 2);
  assert.deepEqual(said.splice(0), ['long'], 'by repeats of the device');
  assert.equal(world.later.length, 0, 'nothing is left');
  world.key('Enter');
  world.go('r');
  world.later[0]?.();
  world.key('Enter', 2);
  assert.deepEqual(said, ['ArrowRight', 'up'], 'a press ends where the focus leaves it');
});

test('a repeat that comes before the last one has been drawn is dropped', () => {
  const world = rows();
  world.add('c', { focusable: true }, world.get('one'));
  world.manager.drawn(0);
  world.key('ArrowRight');
  world.key('ArrowRight', 1);
  assert.equal(world.focused, 'a2', 'not drawn');
  world.manager.drawn(1);
  world.key('ArrowRight', 1);
  assert.equal(world.focused, 'a3');
  world.key('ArrowRight', 1);
  assert.equal(world.focused, 'a3');
  world.time = 300;
  world.key('ArrowRight', 1);
  assert.equal(world.focused, 'c', 'a surface that says nothing does not hold keys for ever');
  assert.equal(world.go('l'), 'a3', 'a press always counts');
});
