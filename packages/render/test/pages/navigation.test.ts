// Pages as the browser's runtime asks for them: the boxes of the document as JSON, under the same headers.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createServer } from '../../src/http/handler.js';
import { pageHandler, pageResponse, respond } from '../../src/pages/http.js';
import type { PagesOptions, RenderOptions } from '../../src/pages/options.js';
import { createPages, type Pages } from '../../src/pages/pages.js';
import type { PageTree } from '../../src/pages/tree.js';
import { listen } from '../support/server.js';
import { boxesIn, pageDataIn, registryForTests, statesIn, textOf } from './support.js';

const assets = {
  runtime: '/assets/sluice.js',
  components: { Text: { js: ['/assets/Text.js', '/assets/shared.js'], css: [] } },
  adapters: { plain: { js: ['/assets/plain.js'] } },
};
const asking = { 'sluice-page': '1' };
const TYPE = 'application/vnd.sluice.page+json';

interface Boxes {
  readonly version: number;
  readonly page: Readonly<Record<string, unknown>>;
  readonly lang: string;
  readonly dir?: string;
  readonly head: string;
  readonly styles?: { readonly href: string };
  readonly preloads: readonly string[];
  readonly boxes: string;
}

function pagesOf(options: Partial<PagesOptions> = {}): Pages {
  return createPages({
    registry: registryForTests(),
    assets,
    navigation: true,
    onError: () => undefined,
    ...options,
  });
}

async function boxesOf(pages: Pages, tree: PageTree, options: RenderOptions = {}): Promise<Boxes> {
  return JSON.parse(await textOf(await pages.render(tree, {}, { ...options, format: 'boxes' }))) as Boxes;
}

async function serve(
  t: TestContext,
  pages: Pages,
  tree: PageTree,
  options: RenderOptions = {},
): Promise<(headers?: Record<string, string>, method?: string) => Promise<Response>> {
  const server = createServer(
    [
      async (request, response) => {
        await respond(pages, request, response, tree, {}, options);
        return true;
      },
    ],
    { onError: () => undefined },
  );
  const origin = await listen(t, server);
  return (headers = {}, method = 'GET') => fetch(origin, { headers, method });
}

const HOSTILE = `</script><script>alert(1)</script>"'&<!--`;
const tree: PageTree = {
  id: 'listing',
  document: {
    title: HOSTILE,
    lang: 'de',
    dir: 'ltr',
    meta: [{ name: 'description', content: HOSTILE }],
    links: [{ rel: 'canonical', href: '/listing' }],
  },
  boxes: [
    { component: 'Text', props: { title: HOSTILE } },
    {
      component: 'Frame',
      slots: { default: [{ component: 'Static', props: { title: HOSTILE } }, { component: 'Client' }] },
    },
    { component: 'Throws', props: { title: HOSTILE } },
    { component: 'None', props: { title: HOSTILE } },
  ],
};

void test('the boxes are those of the document, with its head, data and code', async () => {
  const pages = pagesOf();
  const html = await textOf(await pages.render(tree));
  const page = await boxesOf(pages, tree);
  const [, body] = /<sluice-slot data-sluice-boxes>([^]*)<\/sluice-slot><\/body><\/html>$/.exec(html) ?? [];
  assert.ok(body !== undefined && body !== '');
  assert.equal(page.boxes, body);
  assert.equal(boxesIn(page.boxes).length, 6);
  assert.deepEqual(statesIn(page.boxes), statesIn(html));
  assert.ok(html.includes(`initial-scale=1">${page.head}<style data-sluice-head>`), html);
  assert.deepEqual(page.page, pageDataIn(html));
  assert.deepEqual(page.page['code'], { Text: '/assets/Text.js' });
  assert.deepEqual([page.version, page.lang, page.dir], [1, 'de', 'ltr']);
  assert.deepEqual(page.preloads, [
    '/assets/sluice.js',
    '/assets/Text.js',
    '/assets/shared.js',
    '/assets/plain.js',
  ]);
  for (const address of page.preloads)
    assert.ok(html.includes(`<link rel="modulepreload" href="${address}">`), address);
});

void test('texts of data end neither the head nor the props, in the document and in JSON', async () => {
  const page = await boxesOf(pagesOf(), tree);
  assert.ok(!page.head.includes('<script'), page.head);
  assert.equal(
    [...page.boxes.matchAll(/<script/g)].length,
    [...page.boxes.matchAll(/<script type="application\/json" data-sluice=/g)].length,
  );
  assert.equal(page.head.split('&lt;/script&gt;').length, 5);
});

void test('a page without navigation has neither its marks nor another Vary, and no boxes', async (t) => {
  for (const options of [{ navigation: false }, { navigation: true, assets: undefined }]) {
    const pages = createPages({
      registry: registryForTests(),
      onError: () => undefined,
      ...(options.navigation ? {} : { assets }),
      navigation: options.navigation,
    });
    const ask = await serve(t, pages, tree);
    const response = await ask(asking);
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(response.headers.get('vary'), null);
    assert.doesNotMatch(await response.text(), /data-sluice-(?:boxes|head|styles)|"navigation"/);
    await assert.rejects(pages.render(tree, {}, { format: 'boxes' }), /format: boxes.*navigation/);
  }
});

void test('both forms have the headers of the app, and say which field they depend on', async (t) => {
  const headers = {
    'cache-control': 'public, max-age=60',
    'cache-tag': 'listing',
    vary: 'Accept-Language',
    'x-own': 'yes',
  };
  const whole: PageTree = { ...tree, status: 203, boxes: tree.boxes.slice(0, 2) };
  const ask = await serve(t, pagesOf(), whole, { headers, delivery: 'whole' });
  const [html, json, head] = [await ask(), await ask(asking), await ask(asking, 'HEAD')];
  for (const response of [html, json, head]) {
    assert.equal(response.status, 203);
    assert.equal(response.headers.get('cache-control'), 'public, max-age=60');
    assert.equal(response.headers.get('cache-tag'), 'listing');
    assert.equal(response.headers.get('vary'), 'Accept-Language, Sluice-Page');
    assert.equal(response.headers.get('x-own'), 'yes');
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
  }
  assert.match(html.headers.get('content-type') ?? '', /^text\/html/);
  const text = await json.text();
  for (const response of [json, head]) {
    assert.equal(response.headers.get('content-type'), TYPE);
    assert.equal(response.headers.get('content-length'), String(Buffer.byteLength(text)));
  }
  assert.equal(await head.text(), '');
});

void test('the boxes of one visitor are private, with the cookie that the document has', async (t) => {
  const pages = pagesOf({
    server: { Text: 0.5 },
    visitor: { cookie: 'visitor', setsCookie: true },
  });
  const ask = await serve(t, pages, tree, { headers: { 'cache-control': 'public, max-age=60' } });
  for (const headers of [{}, asking]) {
    const response = await ask(headers);
    assert.match(response.headers.get('cache-control') ?? '', /^private, no-cache$|^no-store$/);
    assert.match(response.headers.get('set-cookie') ?? '', /^visitor=/);
    await response.text();
  }
});

void test('a hole and an error are those of a whole page', async (t) => {
  const never = new Promise<never>(() => undefined);
  const pages = pagesOf({
    sources: {
      functions: {
        never: () => never,
        fails: () => {
          throw new Error('no');
        },
      },
    },
  });
  const late: PageTree = {
    boxes: [
      { component: 'Text', props: { title: 'there' } },
      { component: 'Text', data: { late: { source: 'never', timeoutMs: 60_000 } }, props: { title: 'late' } },
    ],
  };
  const options = { deadlineMs: 100, headers: { 'cache-control': 'public, max-age=60' } };
  const response = await (await serve(t, pages, late, options))(asking);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.match(response.headers.get('server-timing') ?? '', /boxes;desc="1 of 2"/);
  const { boxes } = (await response.json()) as Boxes;
  assert.deepEqual(
    boxesIn(boxes).map(({ id, hole }) => [id, hole]),
    [
      ['b0', undefined],
      ['b1', 'late'],
    ],
  );
  const required: PageTree = { boxes: [{ component: 'Throws', required: true }] };
  const failed = await (await serve(t, pages, required))(asking);
  assert.equal(failed.status, 500);
  assert.equal(failed.headers.get('content-type'), TYPE);
  await failed.text();
  // Data of the page itself fails it: the app answers, and the runtime loads that as a document.
  const without: PageTree = { data: { of: { source: 'fails' } }, boxes: [] };
  const refused = await (await serve(t, pages, without))(asking);
  assert.equal(refused.status, 500);
  assert.match(refused.headers.get('content-type') ?? '', /^application\/json/);
  assert.doesNotMatch(await refused.text(), /"boxes"/);
});

void test('what a schema removes is in no form of the page', async () => {
  const registry = registryForTests();
  const props = {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (value: unknown) => ({ value: { title: (value as { title: string }).title } }),
    },
  };
  registry.register('Checked', ({ title }: { title: string }) => `<p>${title}</p>`, { props });
  const checked: PageTree = {
    boxes: [
      { component: 'Checked', props: { title: 'open', secret: 'SECRET' } },
      { component: 'Checked', rendering: 'client', props: { title: 'open', secret: 'SECRET' } },
      { component: 'Static', props: { title: 'shown', secret: 'SECRET' } },
    ],
  };
  const page = await boxesOf(pagesOf({ registry }), checked);
  assert.match(page.boxes, /\{"title":"open"\}/);
  assert.doesNotMatch(JSON.stringify(page), /SECRET/);
});

void test('pages fit into each other of the same build and with the same HTML around their boxes', async () => {
  const idOf = async (options: Partial<PagesOptions>, rendering: RenderOptions = {}): Promise<unknown> =>
    (await boxesOf(pagesOf(options), tree, rendering)).page['navigation'];
  const own = await idOf({});
  assert.match(String(own), /^[\w-]{12}\.[\w-]{12}$/);
  assert.equal(await idOf({}, { document: { defaults: { title: 'other' } } }), own);
  const others = [
    await idOf({ assets: { ...assets, components: {} } }),
    await idOf({ document: { bodyStart: '<main>' } }),
    await idOf({ document: { bodyEnd: '<main>' } }),
    await idOf({ document: { head: '<main>' } }),
    await idOf({}, { document: { bodyAttributes: 'class="wide"' } }),
  ];
  assert.equal(new Set([own, ...others]).size, others.length + 1);
  // A nonce is another for each page.
  const nonced = (nonce: string): Promise<unknown> =>
    idOf({}, { nonce, document: { head: `<script nonce="${nonce}"></script>` } });
  assert.equal(await nonced('0123456789abcdef'), await nonced('fedcba9876543210'));
  const { page } = await boxesOf(pagesOf({ navigation: { transitions: true } }), tree);
  assert.equal(page['transitions'], true);
});

void test('boxes that are filled later have their place, and JSON waits for them', async () => {
  const pages = pagesOf({
    sources: {
      functions: { soon: () => new Promise((resolve) => setTimeout(resolve, 20, 'soon')) },
    },
  });
  const waiting: PageTree = {
    boxes: [{ component: 'Text', data: { text: { source: 'soon' } }, props: { title: { $path: '$.text' } } }],
  };
  const html = await textOf(await pages.render(waiting, {}, { fill: 'as-ready' }));
  assert.match(
    html,
    /<sluice-slot data-sluice-boxes><sluice-box[^>]*hole="pending"><\/sluice-box><\/sluice-slot>/,
  );
  const { boxes } = await boxesOf(pages, waiting, { fill: 'as-ready' });
  assert.match(boxes, /^<sluice-box n="Text"[^>]*><p>soon<\/p>/);
});

void test('a service that posts trees gets boxes by their format, and 400 without navigation', async (t) => {
  const post = async (pages: Pages): Promise<Response> => {
    const origin = await listen(t, createServer([pageHandler(pages)], { onError: () => undefined }));
    return fetch(`${origin}/page`, {
      method: 'POST',
      // The service's own field says nothing about the browser.
      headers: { 'content-type': 'application/json', ...asking },
      body: JSON.stringify({ tree: { boxes: [{ component: 'Text' }] }, format: 'boxes' }),
    });
  };
  const posted = await post(pagesOf());
  assert.equal(posted.headers.get('content-type'), TYPE);
  assert.match(((await posted.json()) as Boxes).boxes, /^<sluice-box n="Text"/);
  const refused = await post(pagesOf({ navigation: false }));
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /format: boxes is for pages with `navigation`/);
});

void test('a request of Fetch is answered in the form that it asks for', async () => {
  const pages = pagesOf();
  for (const [headers, type] of [
    [{}, 'text/html; charset=utf-8'],
    [asking, TYPE],
  ] as const) {
    const response = await pageResponse(pages, new Request('http://site/', { headers }), tree);
    assert.equal(response.headers.get('content-type'), type);
    assert.equal(response.headers.get('vary'), 'Sluice-Page');
    await response.text();
  }
});
