// The crawl of cache-leaks.test.ts for a million answers, or as many as SLUICE_TEST_CRAWL says, with upgrades of the gateway as well, which
// hand their pages over, and with gateways that are killed and find theirs on disk.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crawled } from './leak-crawled.ts';

const ANSWERS = Number(process.env['SLUICE_TEST_CRAWL'] ?? 1_000_000);

void test('i7 in a million answers no user gets a byte of another’s', { timeout: 3_600_000 }, async (t) => {
  const { answers, leaks } = await crawled(t, { answers: ANSWERS, upgrades: true });
  assert.deepEqual(leaks.slice(0, 3), []);
  assert.ok(answers >= ANSWERS);
});
