/** Random stacks of wrappers, some of them compiled, pass on the same props as stacks that nobody compiled. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { long, seed } from '../../../../tests/support/chance.js';
import { PASSES } from '../../src/screens/index.js';
import { install } from '../../../react/test/versions/install.js';
import {
  KINDS,
  type Kind,
  type Renderer,
  SHAPES,
  entries,
  history,
  propsOf,
  sourceOf,
  wrapper,
} from './support/stacks.js';
import { Root, World, own } from './support/world.js';

const runs = long ? 20_000 : 400;

function rendererOf(world: World): Renderer {
  if (world.major === 18) {
    const { renderToStaticMarkup } = world.require('react-dom/server') as {
      renderToStaticMarkup: (element: unknown) => string;
    };
    return { render: renderToStaticMarkup };
  }
  const root = new Root();
  return { render: (element) => root.render(element), act: (work) => root.act(work) };
}

const OFF = ['', ...PASSES, 'spreads,merges', 'elements,inline', 'inline,merges'];

const worlds = [own, new World(install('18.3'))];
for (const world of worlds) {
  void test(`React ${world.react.version} sees the same props in compiled stacks (seed ${seed})`, async () => {
    const property = fc.asyncProperty(
      fc.array(wrapper, { minLength: 1, maxLength: 7, size: 'max' }),
      fc.array(fc.tuple(fc.constantFrom(...SHAPES), entries), { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...OFF),
      async (stack, tops, passes) => {
        const inputs = tops.map(([shape, all]) => propsOf(shape, all));
        assert.deepEqual(
          await history(world, stack, inputs, true, passes, rendererOf(world)),
          await history(world, stack, inputs, false, passes, rendererOf(world)),
        );
      },
    );
    await fc.assert(property, { numRuns: world === own ? runs : runs / 2, seed }).catch((error: unknown) => {
      console.error(`replay with SLUICE_SEED=${seed}`);
      throw error;
    });
  });
}

void test('every kind of wrapper is compiled, and most are calls in place of fibers', async () => {
  const kinds = Object.keys(KINDS) as Kind[];
  const compiled = await Promise.all(
    kinds.map((kind) => sourceOf(own, { kind, own: ['a={1}'], compiled: true }, '')),
  );
  for (const [index, [source, code]] of compiled.entries()) {
    if (kinds[index] === 'keyedLate') continue;
    assert.match(code, /@sluice\/screens\/runtime/, source);
  }
  const called = compiled.filter(([, code]) =>
    /_(?:on|onStateful|passedOn|passedOnStateful)\(/.test(code),
  ).length;
  assert.ok(called > kinds.length / 2, `${called} of ${kinds.length}`);
  const written = compiled.filter(([, code]) => /\.a = /.test(code)).length;
  assert.ok(written >= 8, `${written} write their attributes into props of their own`);
});
