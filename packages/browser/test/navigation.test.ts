// From page to page in one document, in Chromium: what stays, what goes, and what is told of it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { PageTree, TreeNode } from '../../render/src/index.ts';
import { type Built, build } from './support/build.ts';
import { holdUp, noBrowser, settled } from './support/browser.ts';
import {
  alive,
  everywhere,
  holds,
  living,
  livingOf,
  menu,
  opened,
  openPlatform,
  tall,
} from './support/platform.ts';

const options = { skip: noBrowser };
let built: Built;
before(async () => {
  built = await build();
});
after(() => fs.rmSync(built.folder, { recursive: true }));

void test('the next page comes as JSON: what is the same stays, the rest is swapped', options, async (t) => {
  const platform = await openPlatform(t, built);
  const meta = (content: string): NonNullable<PageTree['document']> => ({
    title: `<${content}>`,
    lang: content === 'a' ? 'en' : 'de',
    meta: [
      { name: 'description', content },
      { name: 'robots', content: 'all' },
    ],
    links: [{ rel: 'canonical', href: `/${content}` }],
  });
  platform.routes.set('/a', { tree: everywhere({ id: 'first', document: meta('a') }, 'a') });
  platform.routes.set('/b', { tree: everywhere({ id: 'second', document: meta('b') }, 'b') });
  const { page, said, to, loads } = await opened(t, platform);
  await holds(async () => assert.deepEqual(await alive(page), livingOf('a')));
  await page.locator('.count').click();
  await page.locator('#search').fill('typed');
  await page.evaluate(() => {
    for (const each of document.querySelectorAll('nav, meta[name=robots]'))
      Object.assign(each, { isOld: true });
  });
  await to('/b');
  await page.waitForURL('**/b');
  await page.locator('h2', { hasText: 'b' }).waitFor();
  await holds(async () => assert.deepEqual(await alive(page), livingOf('b')));
  await settled(page);
  assert.equal(await page.locator('.count').textContent(), 'menu 1');
  assert.equal(await page.locator('#search').inputValue(), 'typed');
  assert.deepEqual(
    await page.evaluate(() => ({
      kept: [...document.querySelectorAll('nav, meta[name=robots]')].map((each) => 'isOld' in each),
      title: document.title,
      lang: document.documentElement.lang,
      metas: [...document.querySelectorAll('meta[content]')].map((each) => each.getAttribute('content')),
      canonical: [...document.querySelectorAll('[rel=canonical]')].map((each) => each.getAttribute('href')),
      data: (JSON.parse(document.querySelector('[data-sluice-page]')?.textContent ?? '') as { page: string })
        .page,
      scripts: document.querySelectorAll('script[data-sluice]').length,
    })),
    {
      kept: [true, true],
      title: '<b>',
      lang: 'de',
      metas: ['width=device-width,initial-scale=1', 'all', 'b'],
      canonical: ['/b'],
      data: 'second',
      scripts: 5,
    },
  );
  await page.locator('.count').click();
  await page.getByText('menu 2').waitFor();
  assert.equal(loads(), 1);
  assert.deepEqual(platform.asked, ['document /a', 'boxes /b']);
  assert.deepEqual(said, []);
});

void test('back and forward show their pages where they were scrolled to', options, async (t) => {
  const platform = await openPlatform(t, built, {
    document: { bodyStart: '<style>h2{margin-top:3000px}</style>', bodyEnd: '<p id="end">end</p>' },
  });
  for (const of of ['a', 'b', 'c']) platform.routes.set(`/${of}`, { tree: everywhere({}, of) });
  const { page, loads } = await opened(t, platform);
  // A mouse would scroll to the link.
  const to = (href: string): Promise<void> =>
    page.locator(`a[href="${href}"]`).evaluate((link: HTMLElement) => link.click());
  const shows = async (of: string, top: number): Promise<void> => {
    await page.locator('h2', { hasText: of }).waitFor();
    await holds(async () => assert.equal(await page.evaluate(() => Math.round(scrollY)), top));
  };
  await page.evaluate(() => scrollTo(0, 500));
  await to('/b');
  await shows('b', 0);
  await page.evaluate(() => scrollTo(0, 700));
  await to('/c');
  await shows('c', 0);
  await page.evaluate(() => history.back());
  await shows('b', 700);
  await page.evaluate(() => history.back());
  await shows('a', 500);
  await page.evaluate(() => history.forward());
  await shows('b', 700);
  assert.equal(new URL(page.url()).pathname, '/b');
  // To a fragment of another page, and of the same.
  await page.evaluate(() => history.back());
  await shows('a', 500);
  await to('/b#end');
  await page.locator('h2', { hasText: 'b' }).waitFor();
  await holds(async () => assert.ok(await page.evaluate(() => scrollY > 1000)));
  const asked = platform.asked.length;
  await page.evaluate(() => {
    location.hash = '#top';
  });
  await page.evaluate(() => history.back());
  await holds(() => assert.equal(new URL(page.url()).hash, '#end'));
  assert.equal(platform.asked.length, asked);
  assert.equal(loads(), 1);
});

void test('a box in a slot is swapped while the component around it stays', options, async (t) => {
  const platform = await openPlatform(t, built);
  const framed = (of: string): PageTree => ({
    boxes: [
      menu(),
      {
        component: 'Frame',
        props: { title: 'frame' },
        slots: { default: [living('Living', of)], aside: [living('vue/Living', `aside of ${of}`)] },
      },
    ],
  });
  for (const of of ['a', 'b', 'c']) platform.routes.set(`/${of}`, { tree: framed(of) });
  const { page, to, said, loads } = await opened(t, platform);
  await page.locator('h1').click();
  await to('/b');
  await holds(async () => assert.deepEqual(await alive(page), ['aside of b', 'b']));
  assert.equal(await page.locator('h1 output').textContent(), '1');
  // The slot is not shown, and is another page's when it is again.
  await page.locator('.toggle').click();
  await to('/c');
  await page.getByText('aside of c').waitFor();
  await page.locator('.toggle').click();
  await page.getByText('c', { exact: true }).waitFor();
  await holds(async () => assert.deepEqual(await alive(page), ['aside of c', 'c']));
  assert.equal(await page.locator('h1 output').textContent(), '3');
  assert.equal(loads(), 1);
  assert.deepEqual(said, []);
});

void test('boxes that the tree names stay in another order and place', options, async (t) => {
  const platform = await openPlatform(t, built);
  const named = (id: string): TreeNode => ({ component: 'Counter', id, props: { start: 0, label: id } });
  const twins = [living('Living', 'one'), tall('static'), living('Living', 'two')];
  platform.routes.set('/a', { tree: { boxes: [menu(), named('x'), ...twins, named('y')] } });
  platform.routes.set('/b', {
    tree: { boxes: [named('y'), tall('static'), menu(), named('z'), named('x')] },
  });
  const { page, to, said } = await opened(t, platform);
  for (const id of ['x', 'y', 'y']) await page.getByText(`${id}: `).click();
  await page.locator('article').evaluate((each) => Object.assign(each, { isOld: true }));
  await to('/b');
  await page.getByText('z: 0').waitFor();
  await settled(page);
  const texts = await page.locator('sluice-box').allTextContents();
  assert.deepEqual(
    texts.map((text) => text.slice(0, 6)),
    ['y: 2', 'static', 'menu 0', 'z: 0', 'x: 1'],
  );
  assert.equal(await page.locator('article').evaluate((each) => 'isOld' in each), true);
  await page.getByText('y: 2').click();
  await page.getByText('y: 3').waitFor();
  assert.deepEqual(said, []);
});

void test('a second click aborts the first, and the history has what was shown', options, async (t) => {
  const platform = await openPlatform(t, built);
  for (const of of ['a', 'b', 'c']) platform.routes.set(`/${of}`, { tree: everywhere({}, of) });
  const { page, to, said, loads } = await opened(t, platform);
  const aborted = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/b'));
  const release = await holdUp(page, /^\/b$/);
  await to('/b');
  assert.equal(page.url(), `${platform.url}/a`);
  await to('/c');
  await page.locator('h2', { hasText: 'c' }).waitFor();
  await aborted;
  release();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
  assert.equal(await page.locator('h2').textContent(), 'c');
  await page.evaluate(() => history.back());
  await page.locator('h2', { hasText: 'a' }).waitFor();
  // Back to what is shown while another page is on its way, and forward to that.
  const releaseAgain = await holdUp(page, /^\/c$/);
  await page.evaluate(() => history.forward());
  await page.waitForURL('**/c');
  await page.evaluate(() => history.back());
  await page.waitForURL('**/a');
  assert.equal(await page.locator('h2').textContent(), 'a');
  releaseAgain();
  await page.evaluate(() => history.forward());
  await page.locator('h2', { hasText: 'c' }).waitFor();
  assert.equal(loads(), 1);
  assert.deepEqual(said, []);
});

void test(
  'styles of the next page are there before it is shown, and those of the last are not',
  options,
  async (t) => {
    const platform = await openPlatform(t, built);
    platform.routes.set('/a', {
      tree: { boxes: [menu(), living('Living', 'a'), { component: 'Counter', props: { start: 1 } }] },
    });
    platform.routes.set('/b', { tree: { boxes: [menu(), tall('b')] } });
    const { page, to, said } = await opened(t, platform);
    const link = page.locator('link[data-sluice-styles]');
    const before = await link.getAttribute('href');
    const release = await holdUp(page, /^\/_css\//);
    await page.evaluate(() => {
      new MutationObserver(() => {
        const card = document.querySelector('article');
        if (card !== null) window.colors?.push(getComputedStyle(card).color);
      }).observe(document.body, { childList: true, subtree: true });
      window.colors = [];
    });
    await to('/b');
    await page.locator('link[data-sluice-styles]').nth(1).waitFor({ state: 'attached' });
    assert.deepEqual([await page.locator('article').count(), await alive(page)], [0, ['a']]);
    release();
    await page.locator('article').waitFor();
    const colors = (await page.evaluate(() => window.colors)) ?? [];
    assert.ok(colors.length > 0);
    const [color] = colors;
    assert.ok(
      colors.every((each) => each === color && each !== 'rgb(0, 0, 0)'),
      colors.join(),
    );
    assert.equal(await link.count(), 1);
    assert.notEqual(await link.getAttribute('href'), before);
    assert.deepEqual(said, []);
  },
);

void test('a redirect leads to the address of its page', options, async (t) => {
  const platform = await openPlatform(t, built);
  for (const of of ['a', 'b']) platform.routes.set(`/${of}`, { tree: everywhere({}, of) });
  platform.routes.set('/moved', (_request, response) =>
    response.writeHead(302, { location: '/b?moved' }).end(),
  );
  const { page, to, loads } = await opened(t, platform);
  await page.evaluate(() => {
    window.told = [];
    for (const type of ['sluice:navigate', 'sluice:navigated'] as const)
      document.addEventListener(type, ({ detail }) => window.told?.push([type, detail]));
  });
  await to('/moved');
  await page.locator('h2', { hasText: 'b' }).waitFor();
  await holds(async () => assert.equal((await page.evaluate(() => window.told))?.length, 2));
  const at = (path: string): string => platform.url + path;
  assert.deepEqual(await page.evaluate(() => window.told), [
    ['sluice:navigate', { url: at('/moved'), type: 'push' }],
    ['sluice:navigated', { url: at('/b?moved'), from: at('/a'), type: 'push' }],
  ]);
  assert.equal(page.url(), at('/b?moved'));
  await page.evaluate(() => history.back());
  await page.locator('h2', { hasText: 'a' }).waitFor();
  assert.equal(page.url(), at('/a'));
  assert.equal(loads(), 1);
});

void test('errors with a page are shown as pages', options, async (t) => {
  const platform = await openPlatform(t, built);
  platform.routes.set('/a', { tree: everywhere({}, 'a') });
  platform.routes.set('/b', { tree: everywhere({ status: 503 }, 'b') });
  const { page, to, loads } = await opened(t, platform);
  await to('/b');
  await page.locator('h2', { hasText: 'b' }).waitFor();
  assert.equal(loads(), 1);
});

void test(
  'a hole of the next page is rendered by the browser, also where it waits to be seen',
  options,
  async (t) => {
    const never = new Promise(() => undefined);
    const platform = await openPlatform(t, built, { sources: { functions: { never: () => never } } });
    platform.routes.set('/a', { tree: everywhere({}, 'a') });
    platform.routes.set('/b', {
      tree: {
        boxes: [
          { component: 'Counter', rendering: 'client', props: { start: 7 } },
          { component: 'Counter', rendering: 'client', hydration: 'visible', props: { start: 8 } },
          { component: 'Card', data: { late: { source: 'never' } }, props: { title: 'late', price: 1 } },
          menu(),
        ],
      },
      options: { deadlineMs: 150 },
    });
    const { page, to, said } = await opened(t, platform);
    await to('/b');
    for (const text of ['add: 8', 'add: 7']) await page.getByText(text).click();
    for (const text of ['add: 8', 'add: 9']) await page.getByText(text).waitFor();
    assert.deepEqual(said, []);
  },
);

void test(
  'a field in a box that stays keeps the focus, and otherwise it is at the top',
  options,
  async (t) => {
    const platform = await openPlatform(t, built);
    for (const of of ['a', 'search']) platform.routes.set(`/${of}`, { tree: everywhere({}, of) });
    const { page, to } = await opened(t, platform);
    await page.locator('#search').pressSequentially('abc');
    await page.keyboard.press('Enter');
    await page.locator('h2', { hasText: 'search' }).waitFor();
    assert.equal(page.url(), `${platform.url}/search?q=abc`);
    await page.keyboard.type('d');
    assert.equal(await page.locator('#search').inputValue(), 'abcd');
    await to('/a');
    await page.locator('h2', { hasText: 'a' }).waitFor();
    await holds(async () =>
      assert.equal(await page.evaluate(() => document.activeElement?.localName), 'body'),
    );
  },
);

void test('with a content security policy, styles have the nonce of the document', options, async (t) => {
  const platform = await openPlatform(t, built, { styles: { inlineBytesMax: 4_096 } });
  let nonces = 0;
  const route = (of: string, boxes: TreeNode[]): void => {
    platform.routes.set(`/${of}`, (request, response) => {
      nonces += 1;
      const nonce = `0123456789abcdef${nonces}`;
      response.setHeader(
        'content-security-policy',
        `default-src 'self'; img-src data:; script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'self' 'nonce-${nonce}'`,
      );
      const head = `<script nonce="${nonce}">window.isOwn = true</script>`;
      void pages
        .render({ boxes }, {}, { request, nonce, document: { head }, format: pages.formatOf(request) })
        .then(async ({ headers, body }) => {
          for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
          if (typeof body === 'string') response.end(body);
          else body.pipe(response);
        });
    });
  };
  const pages = platform.pages();
  await pages.preload(['Card', 'Menu', 'Counter']);
  route('a', [menu(), living('Living', 'a')]);
  route('b', [menu(), tall('b')]);
  const { page, to, said, loads } = await opened(t, platform);
  for (const [from, of] of [
    ['a', 'b'],
    ['b', 'a'],
    ['a', 'b'],
  ] as const) {
    assert.ok(page.url().endsWith(from));
    await to(`/${of}`);
    await page.waitForURL(`**/${of}`);
    await (of === 'b' ? page.locator('article') : page.locator('p', { hasText: 'a' })).waitFor();
  }
  assert.notEqual(
    await page.locator('article').evaluate((each) => getComputedStyle(each).color),
    'rgb(0, 0, 0)',
  );
  assert.equal(loads(), 1);
  assert.deepEqual(said, []);
});

void test('HTML that runs scripts in a document runs none in a swap', options, async (t) => {
  const platform = await openPlatform(t, built);
  const html = "<script>document.title = 'ran'</script><p>shown</p>";
  platform.routes.set('/a', { tree: everywhere({}, 'a') });
  platform.routes.set('/b', { tree: { boxes: [menu(), { component: 'plain/Raw', props: { html } }] } });
  const { page, to } = await opened(t, platform);
  await to('/b');
  await page.getByText('shown').waitFor();
  assert.notEqual(await page.title(), 'ran');
  assert.equal(await page.locator('main script:not([type])').count(), 1);
});

void test('a swap is a view transition where the platform asks for one', options, async (t) => {
  const platform = await openPlatform(t, built, { navigation: { transitions: true } });
  for (const of of ['a', 'b']) platform.routes.set(`/${of}`, { tree: everywhere({}, of) });
  const { page, to } = await opened(t, platform);
  const count = (): Promise<number | undefined> => page.evaluate(() => window.transitions);
  await page.evaluate(() => {
    const start = document.startViewTransition.bind(document);
    window.transitions = 0;
    document.startViewTransition = (run) => {
      window.transitions = (window.transitions ?? 0) + 1;
      return start(run);
    };
  });
  await to('/b');
  await page.locator('h2', { hasText: 'b' }).waitFor();
  assert.equal(await count(), 1);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await to('/a');
  await page.locator('h2', { hasText: 'a' }).waitFor();
  assert.equal(await count(), 1);
});

void test('the beacon of a page names the page that was loaded, once', options, async (t) => {
  const platform = await openPlatform(t, built, { vitals: '/vitals' });
  const beacons: string[] = [];
  platform.routes.set('/vitals', (request, response) => {
    request.on('data', (bytes: Buffer) => beacons.push(bytes.toString()));
    request.on('end', () => response.writeHead(204).end());
  });
  for (const id of ['page-a', undefined]) {
    const tree = everywhere(id === undefined ? {} : { id }, 'a');
    platform.routes.set('/a', { tree });
    platform.routes.set('/b', { tree: everywhere({ id: 'page-b' }, 'b') });
    beacons.length = 0;
    const { page, to } = await opened(t, platform);
    await page.waitForLoadState('networkidle');
    await to('/b');
    await page.locator('h2', { hasText: 'b' }).waitFor();
    await page.goto('about:blank');
    await holds(() => assert.equal(beacons.length, 1));
    assert.equal((JSON.parse(beacons[0] ?? '') as { page: string }).page, id ?? '/a');
  }
});

void test('a page of 50 boxes is one request and nothing of the document around them', options, async (t) => {
  const platform = await openPlatform(t, built);
  const count = 50;
  const listing = (of: string): PageTree => ({
    id: 'listing',
    document: { title: of },
    boxes: [
      menu(['/a', '/b']),
      ...Array.from({ length: count - 1 }, (_, index) =>
        index % 2 === 0
          ? { component: 'Card', props: { title: `Product ${index} of ${of}`, price: index } }
          : { component: 'Counter', props: { start: index, label: of } },
      ),
    ],
  });
  for (const of of ['a', 'b']) platform.routes.set(`/${of}`, { tree: listing(of) });
  const bytesOf = async (headers: Record<string, string>): Promise<string> => {
    const body = Buffer.from(await (await fetch(`${platform.url}/b`, { headers })).arrayBuffer());
    return `${body.length} bytes, ${gzipSync(body).length} in gzip`;
  };
  t.diagnostic(`document: ${await bytesOf({})}; boxes: ${await bytesOf({ 'sluice-page': '1' })}`);
  const { page, said, loads } = await opened(t, platform);
  await page.goto(`${platform.url}/b`);
  await settled(page);
  platform.asked.length = platform.files.length = 0;
  /** Milliseconds from a beginning to the last component that answers. */
  const took: Record<'document' | 'boxes', number[]> = { document: [], boxes: [] };
  const isReady = (of: string): boolean =>
    document.title === of && document.querySelector('sluice-box[on]:not([ready])') === null;
  for (let round = 0; round < 5; round += 1) {
    await page.goto(`${platform.url}/b`);
    await page.waitForFunction(isReady, 'b');
    took.document.push(await page.evaluate(() => window.readyAt ?? 0));
    took.boxes.push(
      await page.evaluate(async () => {
        const from = performance.now();
        document.querySelector<HTMLElement>('a[href="/a"]')?.click();
        while (document.title !== 'a' || document.querySelector('sluice-box[on]:not([ready])') !== null)
          await new Promise((resolve) => document.addEventListener('sluice:ready', resolve, { once: true }));
        return performance.now() - from;
      }),
    );
  }
  const median = (all: readonly number[]): number => Math.round(all.toSorted((a, b) => a - b)[2] ?? 0);
  t.diagnostic(
    `all components answer after ${median(took.document)} ms of a document, ${median(took.boxes)} of boxes`,
  );
  assert.deepEqual(platform.asked, Array.from({ length: 5 }, () => ['document /b', 'boxes /a']).flat());
  assert.deepEqual(platform.files, []);
  assert.equal(await page.locator('sluice-box').count(), count);
  assert.equal(loads(), 7);
  assert.deepEqual(said, []);
});

declare global {
  // oxlint-disable-next-line no-var -- of the page
  interface Window {
    colors?: string[];
    told?: unknown[];
    transitions?: number;
  }
}
