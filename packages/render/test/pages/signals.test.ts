/** What a page leaves behind: nothing at a signal that lives longer, and the context of whoever asked for it. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { createPages, createRegistry } from '../../src/index.js';

void test('a page leaves no listener at a signal that outlives it', async () => {
  const registry = createRegistry();
  registry.register('Box', () => 'box', { adapter: 'plain' });
  const pages = createPages({ registry, sources: { functions: { words: () => 'words' } } });
  const { signal } = new AbortController();
  const page = await pages.render(
    { boxes: [{ component: 'Box', data: { words: { source: 'words' } } }] },
    {},
    { delivery: 'whole', signal },
  );
  await page.report;
  assert.equal(page.status, 200);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

void test('each page hears of its errors in its own async context, also when its boxes run in turns with those of others', async () => {
  const visitor = new AsyncLocalStorage<string>();
  const heard: string[] = [];
  const registry = createRegistry();
  registry.register(
    'Bad',
    () => {
      throw new Error('bad');
    },
    { adapter: 'plain' },
  );
  const pages = createPages({ registry, onError: () => heard.push(visitor.getStore() ?? 'nobody') });
  const boxes = [{ component: 'Bad' }, { component: 'Bad' }];
  await Promise.all(
    ['Ada', 'Bo'].map((name) =>
      visitor.run(name, async () => (await pages.render({ boxes }, {}, { delivery: 'whole' })).report),
    ),
  );
  assert.deepEqual(heard.sort(), ['Ada', 'Ada', 'Bo', 'Bo']);
});
