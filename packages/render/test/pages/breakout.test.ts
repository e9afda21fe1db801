// No content breaks out of its place: an HTML parser says what a browser would make of the page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parse } from 'parse5';
import { seed } from '../../../../tests/support/chance.js';
import { createPages } from '../../src/pages/pages.js';
import { revive } from '../../src/state/revive.js';
import { breaking } from '../support/breaking.js';
import {
  attribute,
  elementsOf,
  innerText,
  pageDataIn,
  registryForTests,
  statesIn,
  textOf,
  type Element,
} from './support.js';

const assets = {
  runtime: '/assets/runtime.js?a=1&b="2"',
  components: { Text: { js: ['/assets/text.js?a=1&b=<'], css: [] } },
};

/** What a parser makes of text in an attribute or a title: it normalises lines, and has no NUL. */
function asParsed(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll('\0', '\uFFFD');
}

/** Half a surrogate pair cannot be sent as UTF-8. */
function asSent(html: string): string {
  return Buffer.from(html, 'utf8').toString('utf8');
}

function tags(html: string): readonly string[] {
  return [...elementsOf(parse(html))].map(({ tagName }) => tagName);
}

function find(html: string, isIt: (element: Element) => boolean): Element {
  const found = [...elementsOf(parse(html))].find(isIt);
  assert.ok(found);
  return found;
}

void test('no text of data or tree changes which elements there are', async () => {
  const pages = createPages({ registry: registryForTests(), assets });
  const render = async (text: string): Promise<string> => {
    const page = await pages.render(
      {
        id: 'page',
        document: {
          lang: { $path: '$.text' },
          title: { $path: '$.text' },
          meta: [
            { name: 'description', content: { $path: '$.text' } },
            { property: text === '' ? 'og:x' : text, content: text },
          ],
          links: [
            { rel: 'canonical', href: `/${encodeURIComponent('x')}`, hreflang: text === '' ? 'en' : text },
          ],
        },
        boxes: [
          { component: 'Text', props: { title: { $path: '$.text' }, [text]: text } },
          { component: 'Client', props: { title: text } },
          { component: text === '' ? 'x' : text, props: { nested: [{ $path: '$.text' }] } },
        ],
      },
      { text },
      { more: text, delivery: 'whole' },
    );
    return asSent(await textOf(page));
  };
  const expected = tags(await render('harmless'));
  await fc.assert(
    fc.asyncProperty(breaking, async (text) => {
      fc.pre(text.length <= 200);
      const html = await render(text);
      assert.deepEqual(tags(html), expected);
      const sent = asSent(asParsed(text));
      assert.equal(innerText(find(html, ({ tagName }) => tagName === 'title')), sent);
      const meta = find(html, (element) => attribute(element, 'name') === 'description');
      assert.equal(attribute(meta, 'content'), sent);
      const names = [...elementsOf(parse(html))].flatMap((element) => attribute(element, 'n') ?? []);
      assert.deepEqual(names, ['Text', 'Client', text === '' ? 'x' : sent]);
      const states = statesIn(html);
      const state = revive(states.get('b0') ?? '') as { title: unknown };
      assert.equal(asSent(String(state.title)), asSent(text));
      assert.equal(Object.getPrototypeOf(state), Object.prototype);
      assert.equal(asSent(String(pageDataIn(html)['more'])), asSent(text));
    }),
    { seed, numRuns: 300 },
  );
});

void test('no text of data or tree breaks out of JSON', async () => {
  const pages = createPages({ registry: registryForTests() });
  await fc.assert(
    fc.asyncProperty(breaking, async (text) => {
      fc.pre(text.length <= 200);
      const page = await pages.render(
        {
          document: { title: text },
          boxes: [
            { component: text === '' ? 'x' : text },
            { component: 'Text', props: { title: { $path: '$.text' } } },
          ],
        },
        { text },
        { format: 'json' },
      );
      const body = JSON.parse(await textOf(page)) as { boxes: { data?: unknown }[]; document: unknown };
      assert.deepEqual(body.document, { title: text });
      assert.equal(body.boxes.length, 2);
      assert.deepEqual(body.boxes[1]?.data, { title: text });
      assert.equal(page.headers['x-content-type-options'], 'nosniff');
    }),
    { seed, numRuns: 200 },
  );
});

void test('an address that is none of the web is left out of the head', async () => {
  const pages = createPages({ registry: registryForTests() });
  const hrefs: readonly (readonly [string, boolean])[] = [
    ['/products?page=2', true],
    ['https://shop.example/', true],
    ['javascript:alert(1)', false],
    [' java\nscript:alert(1)', false],
    ['data:text/html,<script>alert(1)</script>', false],
    ['vbscript:x', false],
    ['blob:https://shop.example/1', false],
  ];
  for (const [href, isKept] of hrefs) {
    const tree = { document: { links: [{ rel: 'canonical', href: { $path: '$.href' } }] }, boxes: [] };
    const html = await textOf(await pages.render(tree, { href }));
    assert.equal(html.includes('rel="canonical"'), isKept, href);
  }
});

void test('a header that would end its line is refused before anything is rendered', async () => {
  let isAsked = false;
  const pages = createPages({ registry: registryForTests() });
  const data = (): object => {
    isAsked = true;
    return {};
  };
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('\r\n', '\n', '\r', '\0'), breaking, async (end, text) => {
      const value = `a${end}${text}`;
      await assert.rejects(pages.render({ boxes: [] }, data, { headers: { 'x-a': value } }), TypeError);
      await assert.rejects(pages.render({ boxes: [] }, data, { headers: { [`x${end}`]: 'a' } }), TypeError);
      await assert.rejects(
        pages.render({ boxes: [] }, data, { headers: { 'set-cookie': ['a=1', value] } }),
        TypeError,
      );
    }),
    { seed, numRuns: 50 },
  );
  assert.equal(isAsked, false);
});

void test('a nonce is on every script and style, and one that is none is refused', async () => {
  const pages = createPages({
    registry: registryForTests(),
    assets: { ...assets, early: { code: 'early()', sha256: 'sha256-x' } },
  });
  const tree = { boxes: [{ component: 'Text' }] };
  const html = await textOf(await pages.render(tree, {}, { nonce: 'abcdefgh12345678' }));
  const running = [...elementsOf(parse(html))].filter(
    (element) =>
      element.tagName === 'style' ||
      (element.tagName === 'script' && attribute(element, 'type') !== 'application/json'),
  );
  assert.equal(running.length, 3);
  for (const element of running) assert.equal(attribute(element, 'nonce'), 'abcdefgh12345678');
  await assert.rejects(pages.render(tree, {}, { nonce: 'x" onload="alert(1)' }), TypeError);
});
