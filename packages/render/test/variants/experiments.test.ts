// Experiments: who gets which arm, what an arm puts on the page, and how arms are listed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RenderHost } from '../../src/host.js';
import { createPages } from '../../src/pages/pages.js';
import type { RenderOptions } from '../../src/pages/options.js';
import { createRegistry } from '../../src/registry/registry.js';
import { Experiments, type Experiment } from '../../src/variants/experiments.js';
import { positionOf } from '../../src/variants/position.js';
import { boxesIn, pageDataIn, registryForTests, textOf } from '../pages/support.js';
import type { Visitor } from '../../src/dial/visitor.js';

const visitor = (id: string, cookies = {}): Visitor => ({ id, device: 'desktop', cookies });
const since = '2026-01-01';

void test('a place is the same in every version', () => {
  // Fixed: a change would move every visitor of every running experiment.
  assert.deepEqual(
    [positionOf('visitor', 'hero'), positionOf('', ''), positionOf('ab', 'c')].map((place) =>
      place.toFixed(9),
    ),
    ['0.769688891', '0.728371334', '0.050316251'],
  );
  assert.notEqual(positionOf('bc', 'a'), positionOf('c', 'ab'));
});

void test('arms get the visitors that their weights say, and each stays in theirs', () => {
  const experiments = new Experiments([{ name: 'hero', arms: { a: 50, b: 30, c: 20, none: 0 }, since }]);
  const counts: Record<string, number> = {};
  const count = 6_000;
  for (let index = 0; index < count; index += 1) {
    const arm = experiments.allocate(visitor(`v${index}`)).arms['hero'] ?? '';
    assert.equal(experiments.allocate(visitor(`v${index}`)).arms['hero'], arm);
    counts[arm] = (counts[arm] ?? 0) + 1;
  }
  assert.deepEqual(Object.keys(counts).toSorted(), ['a', 'b', 'c']);
  for (const [arm, share] of [
    ['a', 0.5],
    ['b', 0.3],
    ['c', 0.2],
  ] as const) {
    const tolerance = 6 * Math.sqrt(share * (1 - share) * count);
    assert.ok(Math.abs((counts[arm] ?? 0) - share * count) <= tolerance, `${arm}: ${counts[arm]}`);
  }
});

void test('two experiments split visitors in ways that have nothing to do with each other', () => {
  const experiments = new Experiments(['one', 'two'].map((name) => ({ name, arms: { a: 1, b: 1 }, since })));
  const count = 4_000;
  let both = 0;
  for (let index = 0; index < count; index += 1) {
    const { arms } = experiments.allocate(visitor(`v${index}`));
    if (arms['one'] === 'a' && arms['two'] === 'a') both += 1;
  }
  assert.ok(Math.abs(both - count / 4) <= 6 * Math.sqrt((count * 3) / 16), String(both));
});

void test('a cookie allocates where the experiment names one, and an arm that was chosen elsewhere wins', () => {
  const experiments = new Experiments([{ name: 'hero', arms: { a: 1, b: 1 }, by: 'exp', since }]);
  const ids = Array.from({ length: 20 }, (_, index) => visitor(`v${index}`, { exp: 'same' }));
  assert.equal(new Set(ids.map((each) => experiments.allocate(each).arms['hero'])).size, 1);
  for (const arm of ['a', 'b'])
    assert.equal(experiments.allocate(visitor('x'), { hero: arm }).arms['hero'], arm);
  const own = experiments.allocate(visitor('x')).arms['hero'];
  assert.equal(experiments.allocate(visitor('x'), { hero: 'toString', other: 'a' }).arms['hero'], own);
});

void test('an experiment that is none is refused', () => {
  const good: Experiment = { name: 'x', arms: { a: 1 }, since };
  for (const [bad, message] of [
    [{ ...good, name: 'a b' }, /cannot be called/],
    [{ ...good, arms: {} }, /no arm/],
    [{ ...good, arms: { a: -1, b: 2 } }, /weight/],
    [{ ...good, arms: { '1': 1 } }, /not a number/],
    [{ ...good, since: 'yesterday' }, /since/],
    [{ ...good, components: { Card: { z: 'Other' } } }, /arm z/],
  ] as const) {
    assert.throws(() => new Experiments([bad]), message);
  }
  assert.throws(() => new Experiments([good, good]), /two experiments/);
});

void test('arms are listed with share and age, and what they render in place of others', () => {
  const components = { Card: { b: 'CardBig' } };
  const experiments = new Experiments([{ name: 'hero', arms: { a: 1, b: 3 }, since, components }]);
  assert.deepEqual(experiments.list(Date.parse('2026-01-31T12:00:00Z')), [
    { experiment: 'hero', arm: 'a', share: 0.25, since, age_days: 30, components: {} },
    { experiment: 'hero', arm: 'b', share: 0.75, since, age_days: 30, components: { Card: 'CardBig' } },
  ]);
});

void test('a visitor gets the component, code and styles of one arm alone', async () => {
  const registry = createRegistry();
  const loaded: string[] = [];
  for (const name of ['Card', 'CardBig']) {
    registry.lazy(name, () => {
      loaded.push(name);
      return { default: () => `<p>${name}</p>` };
    });
  }
  registry.register('Card2', () => '<p>two</p>', {}, { version: '2.0.0' });
  const assets = {
    runtime: '/r.js',
    components: { Card: { js: ['/card.js'], css: [] }, CardBig: { js: ['/big.js'], css: [] } },
  };
  const experiments = [
    {
      name: 'card',
      arms: { a: 1, b: 1, c: 0 },
      since,
      components: { Card: { b: 'CardBig', c: 'Card2@2.0.0' } },
    },
    { name: 'idle', arms: { a: 1 }, since, components: { Nothing: { a: 'Card' } } },
  ];
  const pages = createPages({ registry, assets, experiments });
  const tree = { boxes: [{ component: 'Card' }] };
  const render = async (
    arm: string,
  ): Promise<{ html: string; headers: unknown; variants: unknown; label: unknown }> => {
    const options: RenderOptions = { variants: { card: arm }, headers: { 'cache-control': 's-maxage=9' } };
    const page = await pages.render(tree, {}, options);
    const html = await textOf(page);
    const { variant } = pageDataIn(html);
    return {
      html,
      headers: page.headers['cache-control'],
      variants: (await page.report).variants,
      label: variant,
    };
  };
  const big = await render('b');
  assert.deepEqual(loaded, ['CardBig']);
  assert.deepEqual(
    boxesIn(big.html).map(({ name }) => name),
    ['CardBig'],
  );
  assert.ok(big.html.includes('/big.js') && !big.html.includes('/card.js'));
  assert.deepEqual([big.headers, big.variants, big.label], ['private, no-cache', { card: 'b' }, 'card:b']);
  const small = await render('a');
  assert.ok(small.html.includes('/card.js') && !small.html.includes('/big.js'));
  const two = await render('c');
  assert.match(two.html, /<sluice-box n="Card2" v="2\.0\.0"/);
});

void test('a page of several experiments is measured by the arm of each', async () => {
  const experiments = [
    { name: 'hero', arms: { a: 1, b: 1 }, since },
    { name: 'card', arms: { small: 1, big: 1 }, since },
    { name: 'idle', arms: { a: 1 }, since },
  ];
  const told: unknown[] = [];
  const host: RenderHost = {
    server: () => ({ '*': 1 }),
    vitalsPath: () => '',
    page: (page) => told.push(page),
    rendered: () => {},
  };
  const pages = createPages({ registry: registryForTests(), experiments, host });
  const is = (name: string, arm: string) => ({ equals: [{ $path: `$.variants.${name}` }, arm] }) as const;
  const box = { component: 'Text', props: { title: 'b' } };
  const both = {
    boxes: [
      { ...box, if: is('hero', 'b') },
      { ...box, if: is('card', 'big') },
    ],
  };
  const variants = { hero: 'b', card: 'big' };
  const { variant, variants: all } = pageDataIn(await textOf(await pages.render(both, {}, { variants })));
  assert.deepEqual([variant, all], ['hero:b', ['hero:b', 'card:big']]);
  const one = { boxes: [{ ...box, if: is('card', 'big') }] };
  const data = pageDataIn(await textOf(await pages.render(one, {}, { variants })));
  assert.deepEqual([data['variant'], data['variants']], ['card:big', undefined], 'no list of one');
  assert.deepEqual(told, [
    { setting: 's100', variant: 'hero:b', variants: ['hero:b', 'card:big'] },
    { setting: 's100', variant: 'card:big' },
  ]);
});

void test('an arm that a condition or the data asks for makes the page one of the experiment', async () => {
  const experiments = [{ name: 'hero', arms: { a: 1, b: 1 }, since }];
  const pages = createPages({ registry: registryForTests(), experiments });
  const condition = { equals: [{ $path: '$.variants.hero' }, 'b'] } as const;
  const tree = { boxes: [{ component: 'Text', if: condition, props: { title: 'b' } }] };
  for (const [arm, boxes] of [
    ['a', 0],
    ['b', 1],
  ] as const) {
    const page = await pages.render(tree, {}, { variants: { hero: arm } });
    assert.equal(boxesIn(await textOf(page)).length, boxes);
    assert.equal(page.headers['cache-control'], 'private, no-cache');
    assert.deepEqual((await page.report).variants, { hero: arm });
  }
  const asked = await pages.render({ boxes: [] }, ({ variants }) => ({ arm: variants['hero'] }), {
    variants: { hero: 'a' },
  });
  await textOf(asked);
  assert.deepEqual((await asked.report).variants, { hero: 'a' });
  const untouched = await pages.render({ boxes: [{ component: 'Text' }] });
  await textOf(untouched);
  assert.equal(untouched.headers['cache-control'], undefined);
  assert.deepEqual((await untouched.report).variants, {});
});
