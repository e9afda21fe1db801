// Trees from code are the trees that clients post, and the compiler knows the props of their components.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memo, type ReactNode } from 'react';
import { react } from '../../src/adapters/react.js';
import type { PropsSchema } from '../../src/component.js';
import { box, page, path } from '../../src/pages/builder.js';
import { InvalidTree } from '../../src/pages/check.js';
import { createPages } from '../../src/pages/pages.js';
import { named } from '../../src/registry/named.js';
import { createRegistry } from '../../src/registry/registry.js';
import { boxesIn, innerText, textOf } from './support.js';

interface CardProps {
  readonly title: string;
  readonly price?: number;
  readonly tags?: readonly string[];
}

const Card = ({ title, price = 0 }: CardProps): string => `${title} for ${price}`;
const Frame = ({ children }: { readonly children?: ReactNode }): ReactNode => children;
const Whole = memo(Card);

/** A schema with types, as zod and valibot have them. */
const schema = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value: unknown) => {
      const { title, price } = value as { title: string; price: string };
      return { value: { title, price: Number(price) } };
    },
    types: undefined as { readonly input: { title: string; price: string } } | undefined,
  },
} satisfies PropsSchema<CardProps> & { '~standard': { types: unknown } };

const registry = createRegistry({ adapters: [react()] });
const card = registry.register('Card', Card);
const frame = registry.register('Frame', Frame);
const whole = registry.register('Whole', Whole, { cacheKey: ({ title }) => title });
const priced = registry.register('Priced', Card, { props: schema });
const lazy = registry.lazy('Lazy', async () => Promise.resolve({ default: Card }));

void test('a page of typed boxes is the tree that says the same, and is rendered', async () => {
  const tree = page(
    [
      box(frame, {
        slots: {
          default: [
            box(card, { each: '$.list', props: { title: path('@.name'), price: 3 } }),
            box(whole, { props: path('$.first') }),
            box(priced, { props: { title: 'c', price: '7' } }),
            box(lazy, { id: 'last', props: { title: path('$.none', 'd') } }),
          ],
        },
      }),
    ],
    { id: 'cards', document: { title: 'Cards' } },
  );
  assert.deepEqual(tree, {
    id: 'cards',
    document: { title: 'Cards' },
    boxes: [
      {
        component: 'Frame',
        slots: {
          default: [
            { component: 'Card', each: '$.list', props: { title: { $path: '@.name' }, price: 3 } },
            { component: 'Whole', props: { $path: '$.first' } },
            { component: 'Priced', props: { title: 'c', price: '7' } },
            { component: 'Lazy', id: 'last', props: { title: { $path: '$.none', default: 'd' } } },
          ],
        },
      },
    ],
  });
  const data = { list: [{ name: 'a' }, { name: 'b' }], first: { title: 'whole', price: 1 } };
  const found = boxesIn(await textOf(await createPages({ registry }).render(tree, data)));
  assert.deepEqual(
    found.filter(({ name }) => name !== 'Frame').map(({ element }) => innerText(element)),
    ['a for 3', 'b for 3', 'whole for 1', 'c for 7', 'd for 0'],
  );
});

void test('one box is a page, and versions are named', () => {
  const versioned = createRegistry().register('Card', Card, {}, { version: '2.0.0' });
  assert.deepEqual(page(box(versioned, { props: { title: 'a' } })), {
    boxes: [{ component: 'Card', version: '2.0.0', props: { title: 'a' } }],
  });
  assert.deepEqual(box(named<typeof Card>('Card', '1.0.0'), { props: { title: 'a' } }), {
    component: 'Card',
    version: '1.0.0',
    props: { title: 'a' },
  });
});

void test('a tree that is none is refused when it is built', () => {
  assert.throws(() => page(box(card, { each: 'list', props: { title: 'a' } })), InvalidTree);
});

void test('wrong props are an error of the compiler', () => {
  // @ts-expect-error -- a number is no title
  box(card, { props: { title: 1 } });
  // @ts-expect-error -- the title is missing
  box(card, { props: { price: 1 } });
  // @ts-expect-error -- there is no such prop
  box(card, { props: { title: 'a', prise: 1 } });
  // @ts-expect-error -- a component that takes props has to get some
  box(card);
  // @ts-expect-error -- the schema takes the price as text
  box(priced, { props: { title: 'a', price: 7 } });
  // @ts-expect-error -- a tag is a text
  box(lazy, { props: { title: 'a', tags: [1] } });
  // @ts-expect-error -- memo changes nothing
  box(whole, { props: { title: 1 } });
  // @ts-expect-error -- settings know the props as well
  createRegistry().register('Card', Card, { cacheKey: ({ name }) => name });
  box(frame);
  box(card, { props: { title: 'a', tags: ['b', path('$.tag')] } });
  box(named('Unknown'), { props: { anything: 1 } });
});
