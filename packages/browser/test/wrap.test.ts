// A component of the app's around each box of React: the same on the server and in the browser, with the same contexts.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ReactOptions } from '../../render/src/adapters/react.ts';
import { react } from '../../render/src/adapters/react.ts';
import sluice from '../src/vite/index.ts';
import { build } from './support/build.ts';
import { noBrowser, put, settled, view } from './support/browser.ts';
import { type Box, type Site, openSite } from './support/site.ts';

const options = { skip: noBrowser };

async function wrappedSite(t: TestContext): Promise<Site> {
  const built = await build({ wrap: 'components/_Providers.jsx' });
  const site = await openSite(built, { react: react({ wrap: built.wrap as ReactOptions['wrap'] }) });
  t.after(() => site.close());
  return site;
}

void test(
  'boxes that the server rendered, and those of the browser alone, have the contexts of the wrapper',
  options,
  async (t) => {
    const site = await wrappedSite(t);
    const { page, said } = await view(t);
    const boxes: Box[] = [
      { n: 'Greeting', on: 'load', props: { name: 'Ada' } },
      { n: 'Greeting', on: 'load', hole: 'client', props: { name: 'Bob' } },
    ];
    assert.match(await site.html(boxes.slice(0, 1)), /hallo/);
    await page.goto(put(site, { boxes }));
    await settled(page);
    await page.getByText('hallo Ada 1').click();
    await page.getByText('hallo Ada 2').waitFor();
    await page.getByText('hallo Bob 1').click();
    await page.getByText('hallo Bob 2').waitFor();
    assert.deepEqual(said, []);
  },
);

void test('without the option there is no wrapper', async (t) => {
  const built = await build();
  const site = await openSite(built);
  t.after(() => site.close());
  assert.equal(built.wrap, undefined);
  assert.match(await site.html([{ n: 'Greeting', on: 'load', props: { name: 'Ada' } }]), /hello/);
});

void test('a wrapper on Preact is refused with what to do', () => {
  assert.throws(() => sluice({ wrap: 'x.jsx', reactRuntime: 'preact' }), /remove it/);
});
