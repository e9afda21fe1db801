// Boxes of a built app in Chromium: which are hydrated when, with which code, and that nothing is said about it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { noBrowser, put, settled, view } from './support/browser.ts';
import { build } from './support/build.ts';
import { type Box, type Site, openSite } from './support/site.ts';

const options = { skip: noBrowser };
let site: Site;
before(async () => {
  // Addresses tell which component is meant.
  site = await openSite(await build({ groupKb: 0 }));
});
after(() => site.close());

const counter = (on: NonNullable<Box['on']>, more: Partial<Box> = {}): Box => ({
  n: 'Counter',
  on,
  props: { start: 1 },
  ...more,
});

void test(
  'components of four frameworks answer on one page, without a word on the console',
  options,
  async (t) => {
    const { page, said } = await view(t);
    const boxes: Box[] = [
      counter('load'),
      { n: 'preact/Stepper', a: 'preact', on: 'load', props: { start: 2 } },
      { n: 'vue/Tally', a: 'vue', on: 'load', props: { start: 3 } },
      { n: 'plain/Note', a: 'plain', on: 'load', props: { text: 'a note' } },
      { n: 'Ids', on: 'load' },
      { n: 'Form', on: 'load', props: { name: 'Ada' } },
    ];
    await page.goto(put(site, { boxes }));
    await settled(page);
    await page.getByText('add: 1').click();
    await page.getByText('add: 2').waitFor();
    await page.getByText('step 2').click();
    await page.getByText('step 3').waitFor();
    await page.getByText('tally 3').click();
    await page.getByText('tally 4').waitFor();
    await page.getByText('a note').click();
    await page.getByText('A NOTE').waitFor();
    await page.getByLabel('label').waitFor();
    assert.deepEqual(said, []);
  },
);

void test('hydration leaves the elements that the server sent in place', options, async (t) => {
  const { page, said } = await view(t);
  const boxes: Box[] = [
    counter('interaction'),
    { n: 'preact/Stepper', a: 'preact', on: 'interaction', props: { start: 2 } },
    { n: 'vue/Tally', a: 'vue', on: 'interaction', props: { start: 3 } },
  ];
  await page.goto(put(site, { boxes }));
  await page.evaluate(() => {
    for (const each of document.querySelectorAll('button')) each.dataset['mine'] = 'yes';
  });
  for (const button of await page.getByRole('button').all()) await button.click();
  await page.getByText('add: 2').waitFor();
  await page.getByText('step 3').waitFor();
  await page.getByText('tally 4').waitFor();
  assert.equal(await page.locator('button[data-mine=yes]').count(), 3);
  assert.deepEqual(said, []);
});

void test('code is loaded for what is on the page alone, and none for static boxes', options, async (t) => {
  const { page, asked } = await view(t);
  const boxes: Box[] = [counter('load'), { n: 'Card', props: { title: 'static', price: 3 } }];
  await page.goto(put(site, { boxes }));
  await settled(page);
  const code = asked.filter((path) => path.endsWith('.js'));
  assert.ok(code.includes('/assets/Counter.js'), code.join());
  const others = /Card|Form|Frame|Ids|Stepper|Tally|Note|preact|vue|plain|Adder|measure/;
  assert.deepEqual(
    code.filter((path) => others.test(path)),
    [],
  );
  const styles = asked.filter((path) => path.endsWith('.css'));
  assert.deepEqual(styles.toSorted(), ['/assets/Card.css', '/assets/Counter.css']);
});

void test('a page of static boxes alone gets the runtime and nothing else', options, async (t) => {
  const { page, asked } = await view(t);
  await page.goto(put(site, { boxes: [{ n: 'Card', props: { title: 'static', price: 3 } }] }), {
    waitUntil: 'networkidle',
  });
  assert.deepEqual(
    asked.filter((path) => path.endsWith('.js')),
    ['/assets/sluice.js'],
  );
});

void test('each version of a component is code of its own', options, async (t) => {
  const { page, asked } = await view(t);
  await page.goto(put(site, { boxes: [{ n: 'Adder', v: '2.0.0', on: 'load', props: { start: 1 } }] }));
  await settled(page);
  await page.getByText('sum: 1').click();
  await page.getByText('sum: 11').waitFor();
  assert.deepEqual(
    asked.filter((path) => path.includes('Adder')),
    ['/assets/Adder@2.0.0.js'],
  );
});

void test('a page that names the code of its components needs no list of all', options, async (t) => {
  const { page, asked } = await view(t);
  const [own] = site.built.assets.components['Counter']?.js ?? [];
  await page.goto(put(site, { boxes: [counter('load')], data: { code: { Counter: own } } }));
  await settled(page);
  await page.getByText('add: 1').click();
  await page.getByText('add: 2').waitFor();
  assert.ok(!asked.includes('/assets/registry.js'), asked.join());
});

void test('the names of classes are those of the styles that the page links', options, async (t) => {
  const { page } = await view(t);
  await page.goto(put(site, { boxes: [counter('load'), { n: 'Card', props: { title: 'a', price: 1 } }] }));
  const colour = (selector: string): Promise<string> =>
    page.locator(selector).evaluate((element) => getComputedStyle(element).color);
  assert.equal(await colour('button'), 'rgb(1, 2, 3)');
  const named = await page.locator('button').getAttribute('class');
  await settled(page);
  assert.equal(await page.locator('button').getAttribute('class'), named);
  assert.equal(await colour('button'), 'rgb(1, 2, 3)');
  assert.equal(await colour('.card'), 'rgb(4, 5, 6)');
});

void test('a box far below is hydrated when it is about to be seen', options, async (t) => {
  const { page, asked } = await view(t);
  await page.goto(
    put(site, {
      boxes: [counter('visible')],
      before: '<div style="height: 5000px">far</div>',
    }),
    { waitUntil: 'networkidle' },
  );
  assert.ok(!asked.includes('/assets/Counter.js'), asked.join());
  await page.getByRole('button').scrollIntoViewIfNeeded();
  await settled(page);
  assert.ok(asked.includes('/assets/Counter.js'));
});

void test('a box of text alone is hydrated when what is around it is seen', options, async (t) => {
  const { page } = await view(t);
  await page.goto(put(site, { boxes: [counter('visible', { hole: 'late', html: 'soon' })] }));
  await page.getByText('add: 1').waitFor();
});

void test('an idle box is hydrated without anyone near it', options, async (t) => {
  const { page } = await view(t);
  await page.goto(put(site, { boxes: [counter('idle')] }));
  await settled(page);
});

void test('a box for interaction stays as it is until a pointer comes', options, async (t) => {
  const { page, asked } = await view(t);
  await page.goto(put(site, { boxes: [counter('interaction')] }), { waitUntil: 'networkidle' });
  assert.ok(!asked.includes('/assets/Counter.js'), asked.join());
  await page.getByRole('button').hover();
  await settled(page);
  assert.equal(await page.getByRole('button').textContent(), 'add: 1');
});

void test(
  'slots keep their content, their boxes and their state through their parent',
  options,
  async (t) => {
    const { page, said } = await view(t);
    const slots = { default: [counter('load')], aside: [{ n: 'Card', props: { title: 'aside', price: 1 } }] };
    await page.goto(put(site, { boxes: [{ n: 'Frame', on: 'load', slots }] }));
    await settled(page);
    await page.getByText('add: 1').click();
    await page.getByText('add: 2').waitFor();
    // A click in the slot is a click in the frame, for React too.
    await page.locator('h1 output', { hasText: '1' }).waitFor();
    await page.getByText('aside').waitFor();
    await page.getByText('toggle').click();
    await page.getByText('add: 2').waitFor({ state: 'detached' });
    await page.getByText('toggle').click();
    await page.getByText('add: 2').click();
    await page.getByText('add: 3').waitFor();
    assert.deepEqual(said, []);
  },
);

void test('slots keep their content in Preact, Vue and plain functions', options, async (t) => {
  const { page, said } = await view(t);
  const slots = { default: [counter('load')] };
  const boxes: Box[] = [
    { n: 'preact/Stepper', a: 'preact', on: 'load', props: { start: 1 }, slots },
    { n: 'vue/Tally', a: 'vue', on: 'load', props: { start: 1 }, slots },
    { n: 'plain/Note', a: 'plain', on: 'load', props: { text: 'x' }, slots },
  ];
  await page.goto(put(site, { boxes }));
  await settled(page);
  await page.getByText('step 1').click();
  await page.getByText('tally 1').click();
  await page.getByText('step 2').waitFor();
  await page.getByText('tally 2').waitFor();
  for (let clicked = 1; clicked <= 3; clicked += 1) {
    await page.getByText('add: 1').first().click();
    await page
      .getByText('add: 2')
      .nth(clicked - 1)
      .waitFor();
  }
  assert.deepEqual(said, []);
});

void test('a mismatch is on the console, an event, and counted, in each framework', options, async (t) => {
  const differing: Box[] = [
    { n: 'Differs', on: 'load' },
    { n: 'preact/Stepper', a: 'preact', on: 'load', props: { start: 1, differs: true } },
    { n: 'vue/Tally', a: 'vue', on: 'load', props: { start: 1, differs: true } },
  ];
  for (const box of differing) {
    const { page, said } = await view(t);
    await page.addInitScript(() => {
      const told: unknown[] = [];
      Object.assign(globalThis, { told });
      document.addEventListener('sluice:mismatch', (event) => told.push(event.detail.component));
    });
    await page.goto(put(site, { boxes: [box] }));
    await settled(page);
    await page.getByText('browser').waitFor();
    assert.deepEqual(await page.evaluate('told'), [box.n]);
    assert.match(said.join('\n'), new RegExp(`\\[sluice\\] ${box.n}: hydration mismatch`));
  }
});

void test(
  'the children of a component that is rendered anew after a mismatch keep their state',
  options,
  async (t) => {
    const { page } = await view(t);
    const box: Box = {
      n: 'Frame',
      on: 'interaction',
      html: '<section>wrong <sluice-slot n="default"></sluice-slot></section>',
      slots: { default: [counter('load')] },
    };
    await page.goto(put(site, { boxes: [box] }));
    await page.locator('sluice-box[ready] button').click();
    await page.getByText('add: 2').waitFor();
    await page.getByText('toggle').click();
    await page.getByText('toggle').click();
    await page.getByText('add: 2').click();
    await page.getByText('add: 3').waitFor();
  },
);
