// Random trees of areas, removals and keys.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { canHaveFocus } from '../../src/focus/node.ts';
import { type Node, World } from '../support/world.ts';
import { runs } from '../support/seed.ts';

interface Step {
  readonly kind: 'stop' | 'area' | 'box' | 'remove' | 'hide' | 'declare' | 'key' | 'move';
  readonly at: number;
  readonly place: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('stop', 'stop', 'area', 'box', 'remove', 'hide', 'declare', 'key', 'key', 'move'),
  at: fc.nat(1000),
  place: fc.nat(1000),
});
const DIRECTIONS = ['row', 'column', 'grid', 'spatial'] as const;

const all = (node: Node): Node[] => [node, ...node.children.flatMap(all)];
const pick = <T>(of: readonly T[], at: number): T => of[at % of.length] as T;

function apply(world: World, { kind, at, place }: Step, index: number): void {
  const nodes = all(world.root);
  const node = pick(nodes, at);
  const name = `n${index}`;
  const isRoot = node === world.root;
  switch (kind) {
    case 'stop':
      Object.assign(world.add(name, { focusable: true }, node, place % (node.children.length + 1)), {
        x: place,
        y: at,
      });
      break;
    case 'area': {
      const area = {
        direction: pick(DIRECTIONS, place),
        wrap: place % 3 === 0,
        trap: place % 7 === 0,
        remember: place % 5 !== 0,
      };
      world.add(name, { focusArea: area, ...(place % 11 === 0 && { focusable: true }) }, node);
      break;
    }
    case 'box':
      world.add(name, {}, node);
      break;
    case 'remove':
      if (!isRoot) world.remove(node);
      break;
    case 'hide':
      if (!isRoot) world.set(node, { ...node.props, style: { display: place % 2 === 0 ? 'none' : 'flex' } });
      break;
    case 'declare':
      if (!isRoot) world.set(node, { ...node.props, focused: place % 2 === 0 });
      break;
    case 'key':
      world.key(pick(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Enter'], place));
      break;
    case 'move':
      world.manager.focus(node);
  }
}

test('there is always a widget with the focus, as long as one can have it, and the surface knows it', () => {
  fc.assert(
    fc.property(fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 40 }), (commits) => {
      const world = new World();
      let index = 0;
      for (const commit of commits) {
        for (const each of commit) apply(world, each, (index += 1));
        world.settle();
        const able = all(world.root).filter(canHaveFocus);
        const { focused } = world.manager;
        assert.equal(focused === null, able.length === 0);
        assert.ok(focused === null || able.includes(focused as Node));
        assert.equal(world.sent.at(-1) ?? 0, focused?.id ?? 0);
      }
    }),
    runs(1500),
  );
});

test('a direction and its opposite come back, in rows of a column and in columns of a row', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(sizes, fc.boolean(), fc.array(fc.nat(3)), fc.nat(3), (sizes, areRows, ways, way) => {
      const world = new World();
      const outer = world.add('outer', { focusArea: { direction: areRows ? 'column' : 'row' } });
      for (const [line, size] of sizes.entries()) {
        const area = world.add(
          `line ${line}`,
          { focusArea: { direction: areRows ? 'row' : 'column' } },
          outer,
        );
        const box = world.add(`box ${line}`, {}, area);
        for (let at = 0; at < size; at += 1)
          world.stops(world.add(`cell ${line} ${at}`, {}, box), `${line} ${at}`);
      }
      world.settle();
      for (const each of ways) world.go(pick(['l', 'r', 'u', 'd'], each));
      const start = world.focused;
      if (world.go(pick(['l', 'r', 'u', 'd'], way)) !== start)
        assert.equal(world.go(pick(['r', 'l', 'd', 'u'], way)), start);
    }),
    runs(500),
  );
});
