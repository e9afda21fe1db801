// What users do before the code is there: nothing of it is lost, and nothing happens twice.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { holdUp, noBrowser, put, settled, view } from './support/browser.ts';
import { build } from './support/build.ts';
import { type Box, type Site, openSite } from './support/site.ts';

const options = { skip: noBrowser };
let site: Site;
before(async () => {
  // Addresses tell which component is meant.
  site = await openSite(await build({ groupKb: 0 }));
});
after(() => site.close());

const counter: Box = { n: 'Counter', on: 'load', props: { start: 1 } };

void test(
  'clicks before the runtime itself is there happen once each, in each framework',
  options,
  async (t) => {
    const { page, said } = await view(t);
    const release = await holdUp(page, /\/assets\/sluice-.*js/);
    const boxes: Box[] = [
      counter,
      { n: 'preact/Stepper', a: 'preact', on: 'visible', props: { start: 1 } },
      { n: 'vue/Tally', a: 'vue', on: 'idle', props: { start: 1 } },
      { n: 'plain/Note', a: 'plain', on: 'interaction', props: { text: 'note' } },
    ];
    await page.goto(put(site, { boxes }), { waitUntil: 'commit' });
    for (const text of ['add: 1', 'add: 1', 'step 1', 'tally 1', 'note']) await page.getByText(text).click();
    release();
    for (const text of ['add: 3', 'step 2', 'tally 2', 'NOTE']) await page.getByText(text).waitFor();
    assert.deepEqual(said, []);
  },
);

void test(
  'clicks while the code of the component comes are kept without the inline script too',
  options,
  async (t) => {
    const { page, said } = await view(t);
    const release = await holdUp(page, /\/assets\/Counter-.*js/);
    await page.goto(put(site, { boxes: [counter], early: false }), { waitUntil: 'commit' });
    await page.waitForFunction('Boolean(globalThis.__sluice?.take)');
    await page.getByText('add: 1').click();
    release();
    await page.getByText('add: 2').waitFor();
    assert.deepEqual(said, []);
  },
);

void test('a click in a box within another happens once in both', options, async (t) => {
  const { page } = await view(t);
  const release = await holdUp(page, /\/assets\/Counter-.*js/);
  await page.goto(put(site, { boxes: [{ n: 'Frame', on: 'load', slots: { default: [counter] } }] }));
  // The frame answers already; it must not get the click before the counter in it does.
  await page.locator('sluice-box[n=Frame][ready]').waitFor({ state: 'attached' });
  await page.getByText('add: 1').click();
  assert.equal(await page.locator('h1 output').textContent(), '0');
  release();
  await page.getByText('add: 2').waitFor();
  assert.equal(await page.locator('h1 output').textContent(), '1');
});

void test('fields keep what was typed and chosen, and their component knows', options, async (t) => {
  const { page, said } = await view(t);
  const release = await holdUp(page, /\/assets\/Form-.*js/);
  await page.goto(put(site, { boxes: [{ n: 'Form', on: 'load', props: { name: 'Ada' } }] }));
  await page.locator('#text').fill('Grace');
  await page.locator('#text').press('End');
  await page.locator('#text').pressSequentially(' H');
  await page.getByLabel('gift').check();
  await page.getByRole('combobox').selectOption('m');
  await page.getByLabel('blue').check();
  release();
  await settled(page);
  await page.locator('output', { hasText: 'Grace H gift m blue sent 0' }).waitFor();
  assert.equal(await page.locator('#text').inputValue(), 'Grace H');
  assert.ok(await page.getByLabel('gift').isChecked());
  assert.ok(!(await page.getByLabel('red').isChecked()));
  await page.getByLabel('gift').uncheck();
  await page.locator('output', { hasText: 'Grace H none m blue' }).waitFor();
  assert.deepEqual(said, []);
});

void test('a field stays focused, with its caret in place', options, async (t) => {
  const { page } = await view(t);
  const release = await holdUp(page, /\/assets\/Form-.*js/);
  await page.goto(put(site, { boxes: [{ n: 'Form', on: 'load', props: { name: 'Ada' } }] }));
  await page.locator('#text').fill('abcd');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  release();
  await settled(page);
  await page.keyboard.type('-');
  await page.locator('output', { hasText: 'ab-cd' }).waitFor();
});

for (const [how, send] of [
  ['by a click', (page) => page.getByText('send').click()],
  ['by the key', (page) => page.locator('#text').press('Enter')],
] as const satisfies readonly (readonly [
  string,
  (page: import('playwright-core').Page) => Promise<void>,
])[]) {
  void test(`a form for a script waits for it, sent ${how}, and the page is not left`, options, async (t) => {
    const { page, said } = await view(t);
    const release = await holdUp(page, /\/assets\/Form-.*js/);
    const url = put(site, { boxes: [{ n: 'Form', on: 'load', props: { name: 'Ada' } }] });
    await page.goto(url);
    await send(page);
    release();
    await page.locator('output', { hasText: 'sent 1' }).waitFor();
    assert.equal(page.url(), url);
    assert.deepEqual(said, []);
  });
}

/** A box of HTML around which nothing is ready. */
const html = (content: string): Box => ({ n: 'Counter', on: 'load', html: content });

void test('links and forms that work without script do so at once', options, async (t) => {
  const { page } = await view(t);
  await holdUp(page, /\/assets\/Counter-.*js/);
  site.pages.set('/there', { boxes: [], before: 'arrived' });
  const url = put(site, {
    boxes: [
      html(
        '<a href="/there">link</a><form action="/there"><input name="q" value="1"><button>go</button></form>',
      ),
    ],
  });
  await page.goto(url);
  await page.getByText('link').click();
  await page.getByText('arrived').waitFor();
  await page.goto(url, { waitUntil: 'domcontentloaded' });
  await page.getByText('go').click();
  await page.waitForURL('**/there?q=1');
});

void test('data-sluice-wait has a link wait for its component', options, async (t) => {
  const { page } = await view(t);
  const release = await holdUp(page, /\/assets\/Note-.*js/);
  const url = put(site, {
    boxes: [
      {
        n: 'plain/Note',
        a: 'plain',
        on: 'load',
        props: { text: 'mine' },
        html: '<a class="note" href="#there" data-sluice-wait>link</a>',
      },
    ],
  });
  await page.goto(url);
  await page.getByText('link').click();
  assert.equal(page.url(), url);
  release();
  await page.getByText('MINE').waitFor();
});

void test(
  'a click on a component whose code never comes does nothing, and its links work',
  options,
  async (t) => {
    const { page } = await view(t);
    await page.route(/\/assets\/Counter-.*js/, (route) => route.abort());
    site.pages.set('/there', { boxes: [], before: 'arrived' });
    await page.goto(
      put(site, { boxes: [html('<form><button>go</button></form><a href="/there">link</a>')] }),
    );
    const before = page.url();
    await page.getByText('go').click();
    await settled(page);
    assert.equal(page.url(), before);
    await page.getByText('link').click();
    await page.getByText('arrived').waitFor();
  },
);
