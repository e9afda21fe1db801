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
