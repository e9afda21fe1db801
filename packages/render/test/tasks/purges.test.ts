// Purges reach the HTML that components have cached under their `cacheKey`, and tags of HTML from the cache are tags of its page.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { purgeParts } from '../../../preload/src/host/component-cache.js';
import type { Settings } from '../../src/component.js';
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
