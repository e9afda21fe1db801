// Navigations that are left to the browser, in Chromium: other clicks, answers that cannot be swapped, and what an app prevents.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { PageTree } from '../../render/src/index.ts';
import { type Built, build } from './support/build.ts';
import { noBrowser, settled, view } from './support/browser.ts';
import { type Platform, everywhere, holds, menu, opened, openPlatform, tall } from './support/platform.ts';

const options = { skip: noBrowser };
let built: Built;
before(async () => {
  built = await build();
});
after(() => fs.rmSync(built.folder, { recursive: true }));

void test('what cannot be swapped is loaded as a document', options, async (t) => {
  const platform = await openPlatform(t, built);
  const elsewhere = http.createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('elsewhere');
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => elsewhere.close(resolve)));
  const { port } = elsewhere.address() as AddressInfo;
  const tree: PageTree = { boxes: [menu(['/next', '/next#next']), tall('next')] };
  const cases: Readonly<Record<string, Parameters<Platform['routes']['set']>[1]>> = {
    'an error without a page': (_request, response) => {
      response.writeHead(500, { 'content-type': 'text/html' }).end('next');
    },
    'JSON of another kind': (request, response) => {
      const type = request.headers['sluice-page'] ? 'application/json' : 'text/html';
      response.writeHead(200, { 'content-type': type }).end('{"next":1}');
    },
    'half of the JSON': (request, response) => {
      const isBoxes = request.headers['sluice-page'] !== undefined;
      const type = isBoxes ? 'application/vnd.sluice.page+json' : 'text/html';
      response.writeHead(200, { 'content-type': type }).end(isBoxes ? '{"version":1,' : 'next');
    },
    'a connection that breaks': (request, response) => {
      if (request.headers['sluice-page'] === undefined) response.end('next');
      else response.destroy();
    },
    'another origin': (_request, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
    },
    'another build': {
      tree,
      pages: platform.pages({}, (assets) => ({
        ...assets,
        components: { ...assets.components, New: { js: [], css: [] } },
      })),
    },
    'other HTML around the boxes': { tree, options: { document: { bodyStart: '<main class="other">' } } },
    'styles that do not come': {
      tree,
      pages: platform.pages({ styles: { inlineBytesMax: 0, path: '/gone/' } }),
    },
  };
  for (const [name, route] of Object.entries(cases)) {
    // With a fragment for every other.
    const href = Object.keys(cases).indexOf(name) % 2 === 0 ? '/next' : '/next#next';
    await t.test(`${name}, ${href}`, async (t) => {
      platform.routes.set('/a', { tree: { boxes: [menu(['/next', '/next#next']), tall('a')] } });
      platform.routes.set('/next', route);
      platform.asked.length = 0;
      const { page, to, loads } = await opened(t, platform);
      await to(href);
      await holds(() => assert.equal(loads(), 2));
      await page
        .getByText(/next|elsewhere/)
        .last()
        .waitFor();
      // Chromium asks again where a connection breaks. The styles of one case are asked for here.
      const asked = platform.asked.filter((each) => !each.includes('/gone/'));
      assert.deepEqual(
        asked.filter((each, index) => each !== asked[index - 1]),
        ['document /a', 'boxes /next', 'document /next'],
      );
      await page.goBack();
      await page.locator('h2', { hasText: 'a' }).waitFor();
    });
  }
});

void test('back to a page that fails loads its document', options, async (t) => {
  const platform = await openPlatform(t, built);
  for (const of of ['a', 'b']) platform.routes.set(`/${of}`, { tree: everywhere({}, of) });
  const { page, to, loads } = await opened(t, platform);
  await to('/b');
  await page.locator('h2', { hasText: 'b' }).waitFor();
  platform.routes.set('/a', (_request, response) => {
    response.writeHead(500, { 'content-type': 'text/html' }).end('failed');
  });
  await page.evaluate(() => history.back());
  await page.getByText('failed').waitFor();
  assert.equal(loads(), 2);
  assert.equal(page.url(), `${platform.url}/a`);
});

void test('before the page is loaded, a link loads a document', options, async (t) => {
  const platform = await openPlatform(t, built, { document: { bodyEnd: '<img src="/slow">' } });
  platform.routes.set('/slow', () => undefined);
  for (const of of ['a', 'b']) platform.routes.set(`/${of}`, { tree: everywhere({}, of) });
  const { page } = await view(t);
  await page.goto(`${platform.url}/a`, { waitUntil: 'commit' });
  await settled(page);
  await page.getByText('to /b', { exact: true }).click();
  await page.locator('h2', { hasText: 'b' }).waitFor();
  assert.ok(platform.asked.includes('document /b'), platform.asked.join());
});

void test('other clicks are left to the browser', options, async (t) => {
  const platform = await openPlatform(t, built, {
    document: {
      bodyEnd: `<a id="tab" href="/b" target="_blank">tab</a><a id="download" href="/b" download>download</a>
<a id="hash" href="#here">hash</a><form method="post" action="/b"><button id="post">post</button></form>
<form action="/b"><input name="q" value="1"><button id="get">get</button></form>`,
    },
  });
  for (const of of ['a', 'b']) platform.routes.set(`/${of}`, { tree: everywhere({}, of) });
  const { page, loads } = await opened(t, platform);
  const opens = async (act: () => Promise<void>): Promise<void> => {
    const popup = page.context().waitForEvent('page');
    await act();
    await (await popup).close();
  };
  await opens(() => page.locator('#tab').click());
  await opens(() => page.getByText('to /b', { exact: true }).click({ modifiers: ['Control'] }));
  const download = page.waitForEvent('download');
  await page.locator('#download').click();
  await (await download).cancel();
  await page.locator('#hash').click();
  await page.waitForURL('**/a#here');
  // A component's own entries are its own.
  await page.evaluate(() => history.pushState(null, '', '/a?own'));
  await page.evaluate(() => history.back());
  await page.waitForURL('**/a#here');
  assert.equal(loads(), 1);
  assert.ok(!platform.asked.some((each) => each.startsWith('boxes')), platform.asked.join());
  await page.locator('#post').click();
  await page.locator('h2', { hasText: 'b' }).waitFor();
  assert.ok(platform.asked.includes('POST document /b'), platform.asked.join());
  assert.equal(loads(), 2);
  await page.waitForLoadState();
  await settled(page);
  await page.locator('#get').click();
  await page.waitForURL('**/b?q=1');
  await holds(() => assert.ok(platform.asked.includes('boxes /b?q=1'), platform.asked.join()));
  assert.equal(loads(), 2);
});

void test('an app prevents a navigation, and the browser loads the document', options, async (t) => {
  const platform = await openPlatform(t, built);
  for (const of of ['a', 'b', 'c']) platform.routes.set(`/${of}`, { tree: everywhere({}, of) });
  const { page, to, loads } = await opened(t, platform);
  const prevent = (): Promise<void> =>
    page.evaluate(() => {
      document.addEventListener('sluice:navigate', (event) => event.preventDefault());
    });
  await to('/b');
  await page.locator('h2', { hasText: 'b' }).waitFor();
  await prevent();
  // The entry is one of this document, whose page is another.
  await page.evaluate(() => history.back());
  await holds(() => assert.equal(loads(), 2));
  await page.locator('h2', { hasText: 'a' }).waitFor();
  await settled(page);
  await prevent();
  await to('/c');
  await holds(() => assert.equal(loads(), 3));
  assert.deepEqual(platform.asked, ['document /a', 'boxes /b', 'document /a', 'document /c']);
});

void test('a page is never shown as JSON, however long caches keep it', options, async (t) => {
  const platform = await openPlatform(t, built);
  const headers = { 'cache-control': 'public, max-age=600' };
  for (const of of ['a', 'b'])
    platform.routes.set(`/${of}`, { tree: everywhere({}, of), options: { headers } });
  platform.routes.set('/file', (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('a file');
  });
  const { page, to, loads } = await opened(t, platform);
  await to('/b');
  await page.locator('h2', { hasText: 'b' }).waitFor();
  await page.goto(`${platform.url}/file`);
  await page.goBack();
  await page.locator('h2', { hasText: 'b' }).waitFor();
  await settled(page);
  await page.reload();
  await page.locator('h2', { hasText: 'b' }).waitFor();
  await page.goto(`${platform.url}/b`);
  await page.locator('h2', { hasText: 'b' }).waitFor();
  await page.goBack();
  assert.ok(loads() >= 4);
  assert.ok(!(await page.content()).includes('"version":1'));
});

void test('where Trusted Types allow no HTML from text, links load documents', options, async (t) => {
  const platform = await openPlatform(t, built);
  const headers = { 'content-security-policy': "require-trusted-types-for 'script'" };
  for (const of of ['a', 'b'])
    platform.routes.set(`/${of}`, { tree: everywhere({}, of), options: { headers } });
  const { page, to, loads } = await opened(t, platform);
  await to('/b');
  await holds(() => assert.equal(loads(), 2));
  await page.locator('h2', { hasText: 'b' }).waitFor();
  await page.goBack();
  await page.locator('h2', { hasText: 'a' }).waitFor();
});

void test('without the option of the server, links load documents', options, async (t) => {
  const platform = await openPlatform(t, built, { navigation: false });
  for (const of of ['a', 'b']) platform.routes.set(`/${of}`, { tree: everywhere({}, of) });
  const { to, loads } = await opened(t, platform);
  await to('/b');
  await holds(() => assert.equal(loads(), 2));
  assert.deepEqual(platform.asked, ['document /a', 'document /b']);
});
