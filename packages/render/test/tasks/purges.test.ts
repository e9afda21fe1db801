// Purges reach the HTML that components have cached under their `cacheKey`, and tags of HTML from the cache are tags of its page.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { pageTag } from '#host/caches.js';
import { purgeParts } from '../../../preload/src/host/component-cache.js';
import type { Settings } from '../../src/component.js';
import { gatherTags } from '../../src/tasks/tags.js';
import { createTaskQueue } from '../../src/tasks/queue.js';
import { rendered, viewJob } from '../support/components.js';

const storage = new AsyncLocalStorage<Set<string>>();
(globalThis as Record<symbol, unknown>)[Symbol.for('sluice.react.tags.1')] ??= storage;

const CACHED: Settings = { cacheKey: () => 'one', cacheTags: () => ['product-17'] };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A component that counts its renders, and what `<Cached>` in it would tell. */
function counted(): { view: () => string; renders: () => number } {
  let renders = 0;
  const view = (): string => {
    renders += 1;
    storage.getStore()?.add('within');
    return `<p>${renders}</p>`;
  };
  return { view, renders: () => renders };
}

for (const [what, tag, expected] of [
  ['with its tag', 'product-17', 2],
  ['with a tag of a part in it', 'within', 2],
  ['of all', undefined, 2],
  ['with another tag', 'product-18', 1],
] as const) {
  void test(`a purge ${what} is ${expected === 2 ? 'followed by another render' : 'nothing to the cached HTML'}`, async () => {
    const queue = createTaskQueue();
    const { view, renders } = counted();
    const component = viewJob(view, CACHED);
    const page = (): Promise<string> =>
      storage.run(new Set(), async () => rendered(await queue.run(component)).html);
    assert.equal(await page(), '<p>1</p>');
    assert.equal(await page(), '<p>1</p>');
    purgeParts(tag);
    assert.equal(await page(), `<p>${expected}</p>`);
    assert.equal(renders(), expected);
  });
}

void test('a page has the tags of its parts whether their HTML was made for it or comes from the cache', async () => {
  const queue = createTaskQueue();
  const component = viewJob(counted().view, CACHED);
  for (const isCached of [false, true]) {
    const tags = new Set<string>();
    const result = await storage.run(tags, () => queue.run(component));
    assert.equal(rendered(result).isCached, isCached);
    assert.deepEqual([...tags].sort(), ['product-17', 'within']);
  }
});

void test('HTML that was begun before a purge is not cached after it', async () => {
  const queue = createTaskQueue();
  let renders = 0;
  const component = viewJob(async () => {
    renders += 1;
    await turn();
    await turn();
    return `<p>${renders}</p>`;
  }, CACHED);
  const first = queue.run(component);
  await turn();
  purgeParts('product-17');
  assert.equal(rendered(await first).html, '<p>1</p>');
  assert.equal(rendered(await queue.run(component)).html, '<p>2</p>');
});

/** The page at these paths asks for the component's HTML. */
async function pageAt(paths: readonly string[] | undefined, asked: () => Promise<string>): Promise<string> {
  const gatherer = Object.assign(new Set<string>(), { paths: () => paths });
  return storage.run(gatherer, asked);
}

for (const [what, pages] of [
  ['URL', { url: 'https://shop.example/products/1?from=mail' }],
  ['prefix', { prefix: '/products/' }],
] as const) {
  void test(`a purge by ${what} has the page rendered anew in every worker, whichever page the HTML was made for`, async () => {
    const queue = createTaskQueue();
    const { view, renders } = counted();
    const component = viewJob(view, CACHED);
    const html = async (): Promise<string> => rendered(await queue.run(component)).html;
    assert.equal(await pageAt(['/list'], html), '<p>1</p>');
    purgeParts(pageTag(pages));
    assert.equal(await pageAt(['/list'], html), '<p>1</p>', 'another page uses it further');
    assert.equal(await pageAt(['/products/1'], html), '<p>2</p>', 'it has not been used there before');
    for (const paths of [['/products/1'], ['/list'], undefined])
      assert.equal(await pageAt(paths, html), '<p>2</p>');
    assert.equal(renders(), 2);
  });
}

void test('where several pages may be meant, or none is known, HTML from before any purge by URL is not used', async () => {
  for (const paths of [['/list', '/products/1'], undefined]) {
    const queue = createTaskQueue();
    const component = viewJob(counted().view, CACHED);
    const html = async (): Promise<string> => rendered(await queue.run(component)).html;
    assert.equal(await pageAt(['/list'], html), '<p>1</p>');
    purgeParts(pageTag({ url: '/products/1' }));
    assert.equal(await pageAt(paths, html), '<p>2</p>');
    assert.equal(await pageAt(paths, html), '<p>2</p>');
  }
});

void test('HTML that was begun before a purge by URL is not cached after it, and within a collector the page is known', async () => {
  const queue = createTaskQueue();
  let renders = 0;
  const component = viewJob(async () => {
    renders += 1;
    await turn();
    await turn();
    return `<p>${renders}</p>`;
  }, CACHED);
  const html = async (): Promise<string> => rendered(await queue.run(component)).html;
  const first = pageAt(['/products/1'], html);
  await turn();
  purgeParts(pageTag({ url: '/products/1' }));
  assert.equal(await first, '<p>1</p>');
  const collected = (): Promise<string> => gatherTags(new Set(), html);
  assert.equal(await pageAt(['/products/1'], collected), '<p>2</p>');
  purgeParts(pageTag({ url: '/products/2' }));
  assert.equal(await pageAt(['/products/1'], collected), '<p>2</p>', 'another page');
  purgeParts(pageTag({ url: '/products/1' }));
  assert.equal(await pageAt(['/products/1'], collected), '<p>3</p>');
});

void test('I6: more purges by URL than the limit purge the whole cache', async () => {
  const queue = createTaskQueue();
  const component = viewJob(counted().view, CACHED);
  const html = async (): Promise<string> => rendered(await queue.run(component)).html;
  assert.equal(await pageAt(['/list'], html), '<p>1</p>');
  for (let at = 0; at < 1000; at += 1) purgeParts(pageTag({ url: `/products/${at}` }));
  assert.equal(await pageAt(['/list'], html), '<p>1</p>');
  purgeParts(pageTag({ url: '/products/1000' }));
  assert.equal(await pageAt(['/list'], html), '<p>2</p>');
});
