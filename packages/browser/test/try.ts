import { test } from 'node:test';
import { holdUp, put, view, settled } from './support/browser.ts';
import { openSite } from './support/site.ts';
test('x', async (t) => {
  const site = await openSite();
  t.after(() => site.close());
  const { page, said, asked } = await view(t);
  const release = await holdUp(page, /\/assets\/Counter-/);
  await page.goto(put(site, { boxes: [{ n: 'Counter', on: 'load', props: { start: 1 } }], early: false }), {
    waitUntil: 'commit',
  });
  await new Promise((r) => setTimeout(r, 1500));
  console.log(
    asked,
    said,
    await page.evaluate(
      '[document.readyState, typeof globalThis.__sluice, document.documentElement.outerHTML]',
    ),
  );
  release();
  await new Promise((r) => setTimeout(r, 500));
  console.log(asked, said, await page.evaluate('[document.readyState, typeof globalThis.__sluice]'));
  const v = await view(t);
  const release2 = await holdUp(v.page, /\/assets\/Form-/);
  await v.page.goto(put(site, { boxes: [{ n: 'Form', on: 'load', props: { name: 'Ada' } }] }));
  await v.page.locator('#text').fill('Grace');
  await v.page.getByLabel('gift').check();
  release2();
  await settled(v.page);
  console.log(
    v.said,
    await v.page.locator('output').textContent(),
    await v.page.locator('sluice-box').evaluate((b) => b.outerHTML),
  );
});
