// Users with cookies of their own ask for pages that are for all, for one, varied by cookie, streamed, failing and cut off, with HEAD,
// ranges, conditions, changes, purges, reloads and killed workers between them. No answer has another user's canary. The long form,
// with upgrades as well, is cache-leaks.slow.test.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crawled } from './leak-crawled.ts';

void test('i7 no user ever gets a byte of another’s, whatever is kept, joined, stale or broken', async (t) => {
  const { leaks, uses } = await crawled(t, { answers: 10_000, upgrades: false });
  assert.deepEqual(leaks.slice(0, 3), []);
  for (const word of ['hit', 'collapsed', 'stored', 'bypass', 'revalidating', 'disk']) {
    const isSeen = Object.keys(uses).some((use) => use.includes(word));
    assert.ok(isSeen, `${word} was never seen: ${JSON.stringify(uses)}`);
  }
});

void test('the crawl sees it where an app says of a page for one that it is for all', async (t) => {
  const { leaks } = await crawled(t, {
    answers: 500,
    upgrades: false,
    targets: ['/user?cc=public,max-age=60', '/page?cc=public,max-age=60'],
  });
  assert.notEqual(leaks.length, 0);
});
