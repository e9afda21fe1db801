// The start of a document is made once for pages that are alike: each page has its own nonce, data and styles all the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hydration } from '../../src/component.js';
import { DocumentFrames } from '../../src/pages/document-frame.js';
import { tagOf } from '../../src/pages/html.js';
import { createPages } from '../../src/pages/pages.js';
import type { PageTree } from '../../src/pages/tree.js';
import { createRegistry } from '../../src/registry/registry.js';
import { escapeHtml } from '../../src/state/escape.js';

const registry = createRegistry();
registry.register('Text', ({ text }: { text: string }) => `<p>${text}</p>`);
registry.register('Other', () => '<b>other</b>');
const assets = {
  runtime: '/runtime.js',
  components: { Text: { js: ['/text.js'], css: [] }, Other: { js: ['/other.js'], css: [] } },
};
const tree: PageTree = {
  id: 'page',
  document: { title: { $path: '$.title' } },
  boxes: [
    { component: 'Text', props: { text: 'one' } },
    { component: 'Other', if: { exists: '$.other' } },
  ],
};

void test('pages of one tree differ where their data, nonce, head, setting or components do', async () => {
  const shares: Record<string, number> = {};
  const pages = createPages({ registry, assets, server: shares });
  const html = async (data: Record<string, unknown>, options: object = {}): Promise<string> => {
    const { body } = await pages.render(tree, data, { delivery: 'whole', ...options });
    assert.ok(typeof body === 'string');
    return body;
  };
  const first = await html({ title: 'first' });
  assert.equal(await html({ title: 'first' }), first);
  assert.equal(await html({ title: 'second' }), first.replace('<title>first', '<title>second'));

  const nonces = ['bm9uY2Utb25l', 'bm9uY2UtdHdv'];
  for (const nonce of nonces) {
    const page = await html({ title: 'first' }, { nonce });
    assert.equal(page.replaceAll(` nonce="${nonce}"`, ''), first);
    assert.equal(page.split(nonce).length - 1, 4, 'the style, two links and the runtime');
  }
  assert.ok(!(await html({ title: 'first' })).includes('nonce'));

  assert.ok(!first.includes('/other.js'));
  assert.ok((await html({ title: 'first', other: 1 })).includes('"/other.js"'));
  assert.equal(await html({ title: 'first' }), first);

  const document = { head: '<meta name="own">', bodyStart: '<main>' };
  const own = await html({ title: 'first' }, { document });
  assert.equal(own.replace('<meta name="own">', '').replace('<main>', ''), first);

  shares['*'] = 0;
  assert.match(await html({ title: 'first' }), /"setting":"s0"/);
  assert.match(first, /"setting":"s100"/);
});

void test('pages that have head, body and data of their own share what is made once', async () => {
  let reads = 0;
  const counted = {
    ...assets,
    get runtime() {
      reads += 1;
      return assets.runtime;
    },
  };
  const pages = createPages({ registry, assets: counted });
  const html = async (own: string): Promise<string> => {
    const document = {
      head: `<meta name="${own}">`,
      bodyAttributes: `id="${own}"`,
      bodyStart: `<i>${own}</i>`,
    };
    const { body } = await pages.render(tree, {}, { delivery: 'whole', document, more: `/more?${own}` });
    assert.ok(typeof body === 'string');
    return body;
  };
  const first = await html('own0');
  const readsOfFirst = reads;
  assert.ok(readsOfFirst > 0);
  for (let own = 1; own < 10; own += 1)
    assert.equal(await html(`own${own}`), first.replaceAll('own0', `own${own}`));
  assert.equal(reads, readsOfFirst);
  for (const part of [
    '<meta name="own0"></head>',
    '<body id="own0">',
    '"more":"/more?own0"',
    '</script><i>own0</i>',
  ])
    assert.ok(first.includes(part), part);
});

void test('a frame that is used stays, whatever others come and go', () => {
  const frames = new DocumentFrames();
  const tree = {};
  const made: number[] = [];
  const use = (fact: number): void => {
    const frame = frames.of(tree, { code: [], others: [fact] }, ' nonce="n"', (attribute) => {
      made.push(fact);
      return { html: `<style${attribute}>${fact}`, files: '{}' };
    });
    assert.deepEqual(frame, { html: `<style nonce="n">${fact}`, files: '{}' });
  };
  for (let other = 1; other <= 20; other += 1) {
    use(0);
    use(other);
  }
  assert.equal(made.filter((fact) => fact === 0).length, 1);
  assert.equal(made.length, 21);
});

void test('media queries of trees are not kept with the component', async () => {
  const own = createRegistry();
  own.register('Own', () => '<p>', { hydration: 'media (width > 1px)' });
  const pages = createPages({ registry: own });
  const times: readonly (Hydration | undefined)[] = [
    undefined,
    'load',
    'idle',
    'visible',
    'interaction',
    ...Array.from({ length: 30 }, (_, width) => `media (width > ${width}px)` as const),
  ];
  for (const hydration of times) {
    const boxes = [{ component: 'Own', ...(hydration !== undefined && { hydration }) }];
    const { body } = await pages.render({ boxes }, {}, { delivery: 'whole' });
    assert.ok(typeof body === 'string');
    assert.ok(body.includes(` on="${escapeHtml(hydration ?? 'media (width > 1px)')}">`), hydration);
  }
  const component = own.loaded('Own') ?? assert.fail();
  assert.deepEqual(
    [...tagOf(component).ends.keys()],
    ['media (width > 1px)', 'load', 'idle', 'visible', 'interaction'],
  );
});
