// Pages as users have them: without scripts, on slow networks, gone back to; and what is measured of it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { chromiumPath } from '../../../tests/browser/chromium.ts';
import { eventually } from '../../../tests/support/eventually.ts';
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

const counter: Box = { n: 'Counter', on: 'load', props: { start: 1 } };
const data = (path: string) => ({
  page: 'listing',
  setting: 's100',
  variant: 'hero:b',
  variants: ['hero:b', 'card:big'],
  vitals: path,
});

/** Beacons that came to a path, read. */
const beacons = (path: string): Record<string, unknown>[] =>
  site.asked
    .filter((each) => each.path === path)
    .map(({ body }) => JSON.parse(body) as Record<string, unknown>);

const answerBeacons = (path: string): void => {
  site.pages.set(path, (_request, response) => response.writeHead(204).end());
};

void test(
  'without JavaScript the page is what the server sent, and its links and forms work',
  options,
  async (t) => {
    const { page, said } = await view(t, { javaScriptEnabled: false });
    site.pages.set('/there', { boxes: [], before: 'arrived' });
    const form: Box = {
      ...counter,
      html: '<form action="/there"><input name="q"><button>go</button></form>',
    };
    await page.goto(
      put(site, { boxes: [counter, form, { n: 'Card', props: { title: 'title', price: 1 } }] }),
    );
    for (const text of ['add: 1', 'title']) await page.getByText(text).waitFor();
    await page.getByRole('textbox').fill('x');
    await page.getByText('go').click();
    await page.waitForURL('**/there?q=x');
    assert.deepEqual(said, []);
  },
);

void test(
  'on a slow network the page is there before its code, and a click on it is not lost',
  options,
  async (t) => {
    const { page, said } = await view(t);
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    await network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 400,
      downloadThroughput: 50_000,
      uploadThroughput: 50_000,
    });
    // However slow this machine is, the code comes after the click.
    let release = (): void => {};
    const clicked = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/assets/Counter.js', async (route) => {
      await clicked;
      await route.continue();
    });
    await page.goto(put(site, { boxes: [counter] }), { waitUntil: 'commit' });
    await page.getByText('add: 1').click();
    assert.equal(await page.locator('sluice-box[ready]').count(), 0);
    release();
    await page.getByText('add: 2').waitFor();
    assert.deepEqual(said, []);
  },
);

void test('a page that is left sends one beacon with what was measured', options, async (t) => {
  const { page, asked } = await view(t);
  answerBeacons('/vitals');
  await page.goto(put(site, { boxes: [counter, { n: 'Differs', on: 'load' }], data: data('/vitals') }));
  await settled(page);
  await eventually(() => asked.includes('/assets/measure.js'), { what: 'the code that measures' });
  await page.waitForLoadState('networkidle');
  await page.getByText('add: 1').click();
  await page.getByText('add: 2').waitFor();
  await page.goto('about:blank');
  const [beacon] = await eventually(() => beacons('/vitals').length > 0 && beacons('/vitals'));
  const {
    v,
    page: named,
    setting,
    variant,
    variants,
    device,
    mismatches,
    failed,
    ...measures
  } = beacon ?? {};
  assert.deepEqual(
    { v, named, setting, variant, variants, device, mismatches, failed },
    {
      v: 1,
      named: 'listing',
      setting: 's100',
      variant: 'hero:b',
      variants: ['hero:b', 'card:big'],
      device: 'desktop',
      mismatches: 1,
      failed: 0,
    },
  );
  const names = ['ttfb_ms', 'fcp_ms', 'lcp_ms', 'tti_ms', 'memory_bytes', 'cls', 'html_bytes', 'js_bytes'];
  // Chromium does not tell of each click how long it took, and of none before the next frame. A busy machine has long frames.
  const measured = Object.keys(measures).filter((name) => name !== 'inp_ms' && name !== 'long_ms');
  assert.deepEqual(measured.toSorted(), names.toSorted());
  for (const [name, value] of Object.entries(measures))
    assert.ok(Number(value) >= 0, `${name} is ${String(value)}`);
  assert.ok(Number(measures['js_bytes']) > 10_000, String(measures['js_bytes']));
  assert.ok(Number(measures['memory_bytes']) > 100_000, String(measures['memory_bytes']));
  assert.equal(beacons('/vitals').length, 1);
});

void test(
  'keys and long frames are measured, and components that come later are no part of the load',
  options,
  async (t) => {
    const { page, asked } = await view(t);
    answerBeacons('/vitals-keys');
    await page.goto(
      put(site, { boxes: [counter, { ...counter, on: 'interaction' }], data: data('/vitals-keys') }),
    );
    await page.locator('sluice-box[on=load][ready]').waitFor();
    await eventually(() => asked.includes('/assets/measure.js'), { what: 'the code that measures' });
    await page.waitForLoadState('networkidle');
    const loaded_ms = await page.evaluate(() => performance.now());
    await page.evaluate(() => {
      addEventListener('keydown', () => {
        for (const end = performance.now() + 300; performance.now() < end;);
      });
    });
    await page.locator('sluice-box[on=interaction] button').focus();
    await page.keyboard.press('a');
    await page.locator('sluice-box[on=interaction][ready]').waitFor();
    // Entries come with the frame after the one that they are of.
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 500))),
    );
    await page.goto('about:blank');
    const [beacon] = await eventually(() => beacons('/vitals-keys').length > 0 && beacons('/vitals-keys'));
    assert.ok(Number(beacon?.['key_ms']) >= 300, JSON.stringify(beacon));
    assert.ok(Number(beacon?.['long_ms']) >= 240, JSON.stringify(beacon));
    assert.ok(Number(beacon?.['tti_ms']) <= loaded_ms, JSON.stringify(beacon));
  },
);

void test(
  'a page that names no place for beacons does not load the code that measures',
  options,
  async (t) => {
    const { page, asked } = await view(t);
    await page.goto(put(site, { boxes: [counter], data: { page: 'x', vitals: null } }), {
      waitUntil: 'networkidle',
    });
    await page.goto('about:blank');
    assert.ok(!asked.includes('/assets/measure.js'), asked.join());
  },
);

void test(
  'a page comes back from the back/forward cache as it was left, and is measured again',
  options,
  async (t) => {
    const browser = await chromium.launch({
      executablePath: chromiumPath() ?? '',
      args: ['--no-sandbox'],
      ignoreDefaultArgs: ['--disable-back-forward-cache'],
    });
    t.after(() => browser.close());
    const page = await browser.newPage();
    answerBeacons('/vitals-back');
    site.pages.set('/there', { boxes: [], before: 'arrived' });
    await page.addInitScript(() => {
      addEventListener('pageshow', ({ persisted }) => Object.assign(globalThis, { persisted }));
    });
    const measured = page.waitForResponse(/measure-/);
    await page.goto(put(site, { boxes: [counter], data: data('/vitals-back') }));
    await measured;
    await page.waitForLoadState('networkidle');
    await page.getByText('add: 1').click();
    await page.getByText('add: 2').waitFor();
    await page.goto(`${site.url}/there`);
    await page.evaluate('history.back()');
    await page.getByText('add: 2').waitFor();
    assert.equal(await page.evaluate('persisted'), true);
    await page.getByText('add: 2').click();
    await page.getByText('add: 3').waitFor();
    await page.goto(`${site.url}/there`);
    await eventually(() => beacons('/vitals-back').length === 2, { what: 'a second beacon' });
  },
);
