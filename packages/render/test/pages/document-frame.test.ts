// The start of a document is made once for pages that are alike: each page has its own nonce, data and styles all the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPages } from '../../src/pages/pages.js';
import type { PageTree } from '../../src/pages/tree.js';
import { createRegistry } from '../../src/registry/registry.js';

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
