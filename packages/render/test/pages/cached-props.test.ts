// Boxes whose cache key is their props: the browser's state is each box's own, also where a component changes what it gets.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Props } from '../../src/component.js';
import type { Page } from '../../src/pages/options.js';
import { createPages } from '../../src/pages/pages.js';
import { createRegistry } from '../../src/registry/registry.js';

/** A page that is sent whole. */
function wholeOf({ body }: Page): string {
  assert.ok(typeof body === 'string');
  return body;
}

const states = (html: string): unknown[] =>
  [...html.matchAll(/data-sluice="[^"]+">([^<]*)<\/script>/g)].map(([, state]) => JSON.parse(state ?? ''));

void test('a cached box has the props of its own place, and its schema is asked once', async () => {
  let checks = 0;
  let renders = 0;
  const registry = createRegistry();
  const view = (props: { list: number[] }): string => {
    renders += 1;
    props.list.push(4);
    return `<p>${props.list.join()}</p>`;
  };
  registry.register('List', view, {
    cacheKey: 'props',
    props: {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate(value) {
          checks += 1;
          const { secret: _secret, ...props } = value as Props;
          return { value: props as { list: number[] } };
        },
      },
    },
  });
  const pages = createPages({ registry });
  const tree = {
    boxes: [{ component: 'List', each: '$.lists', props: { list: { $path: '@' }, secret: 'no' } }],
  };
  const page = await pages.render(tree, { lists: [[1], [2], [1]] }, { delivery: 'whole' });
  const html = wholeOf(page);
  assert.deepEqual(states(html), [{ list: [1] }, { list: [2] }, { list: [1] }]);
  assert.deepEqual(
    [...html.matchAll(/<p>([^<]*)<\/p>/g)].map(([, list]) => list),
    ['1,4', '2,4', '1,4'],
  );
  assert.deepEqual(
    (await page.report).boxes.map(({ outcome }) => outcome),
    ['rendered', 'rendered', 'cached'],
  );
  assert.deepEqual([checks, renders], [3, 2]);
});

void test('a box whose props cannot be text is rendered for each page, and its hole says why', async () => {
  const registry = createRegistry();
  let renders = 0;
  registry.register('Odd', () => `<p>${(renders += 1)}</p>`, { cacheKey: 'props' });
  const told: string[] = [];
  const pages = createPages({ registry, onError: (error) => told.push(error.message) });
  const tree = { boxes: [{ component: 'Odd', props: { $path: '$.odd' } }] };
  for (const expected of [1, 2]) {
    const html = wholeOf(await pages.render(tree, { odd: { click: () => 1 } }, { delivery: 'whole' }));
    assert.match(html, new RegExp(`<sluice-box n="Odd" i="b0"><p>${expected}</p></sluice-box>`));
  }
  assert.deepEqual(told, Array(2).fill('state.click is a function, which cannot be sent to the browser'));
});

class Private {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  toString(): string {
    return this.#name;
  }
}

/** Two values of props with one text, which a component tells from each other. */
const alike: Readonly<Record<string, readonly [unknown, unknown]>> = {
  promises: [Promise.resolve('Ann'), Promise.resolve('Bob')],
  'search parameters': [new URLSearchParams('user=Ann'), new URLSearchParams('user=Bob')],
  headers: [new Headers({ user: 'Ann' }), new Headers({ user: 'Bob' })],
  'private fields': [new Private('Ann'), new Private('Bob')],
  'regular expressions': [/Ann/, /Bob/],
  errors: [new Error('Ann'), new Error('Bob')],
  'an object with toJSON': [
    { user: 'Ann', toJSON: () => ({}) },
    { user: 'Bob', toJSON: () => ({}) },
  ],
  'a class of maps': [
    new (class extends Map<string, string> {
      user = 'Ann';
    })(),
    new (class extends Map<string, string> {
      user = 'Bob';
    })(),
  ],
  'a map of promises': [
    new Map([['user', Promise.resolve('Ann')]]),
    new Map([['user', Promise.resolve('Bob')]]),
  ],
  'a date with a property': [
    Object.assign(new Date(0), { user: 'Ann' }),
    Object.assign(new Date(0), { user: 'Bob' }),
  ],
  'symbols as keys': [{ [Symbol.for('user')]: 'Ann' }, { [Symbol.for('user')]: 'Bob' }],
  'an array with a property': [Object.assign([1], { user: 'Ann' }), Object.assign([1], { user: 'Bob' })],
  'an array with a hole': [Array(1), [undefined]],
};

for (const [what, values] of Object.entries(alike)) {
  void test(`props with ${what} are one visitor's, and their HTML is no other's`, async () => {
    const registry = createRegistry();
    const seen: unknown[] = [];
    const view = ({ value: [each] }: { value: readonly unknown[] }): string => {
      seen.push(each);
      return `<p>${seen.length}</p>`;
    };
    registry.register('Card', view, { cacheKey: 'props', rendering: 'static' });
    const pages = createPages({ registry });
    const tree = { boxes: [{ component: 'Card', props: { value: { $path: '$.value' } } }] };
    const whole = { delivery: 'whole' } as const;
    const [first, second] = await Promise.all(
      values.map(async (value) => wholeOf(await pages.render(tree, { value: [value] }, whole))),
    );
    assert.match(first ?? '', /<p>1</);
    assert.match(second ?? '', /<p>2</);
  });
}

void test('a property that is undefined is another key than none', async () => {
  const registry = createRegistry();
  const view = ({ props }: { props: object }): string =>
    `<p>${JSON.stringify({ color: 'red', ...props })}</p>`;
  registry.register('Card', view, { cacheKey: 'props' });
  const pages = createPages({ registry });
  const tree = { boxes: [{ component: 'Card', props: { $path: '$' } }] };
  const htmlOf = async (props: object): Promise<readonly unknown[]> => {
    const page = await pages.render(tree, { props }, { delivery: 'whole' });
    const [, inner] = /<p>(.*?)<\/p>/.exec(wholeOf(page)) ?? [];
    return [inner, (await page.report).boxes[0]?.outcome];
  };
  assert.deepEqual(await htmlOf({}), ['{"color":"red"}', 'rendered']);
  assert.deepEqual(await htmlOf({ color: undefined }), ['{}', 'rendered']);
  assert.deepEqual(await htmlOf({}), ['{"color":"red"}', 'cached']);
  assert.deepEqual(await htmlOf({ color: undefined }), ['{}', 'cached']);
});
