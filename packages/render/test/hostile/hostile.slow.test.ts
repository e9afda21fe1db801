// The same as hostile.test.ts for longer: it takes some minutes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seed } from '../../../../tests/support/chance.js';
import { survive } from './survive.js';

test('100,000 hostile requests to fragments, pages, services and holes end nothing', async (t) => {
  const { attacks, statuses } = await survive(t, 100_000, seed);
  t.diagnostic([...statuses].map(([status, count]) => `${status}: ${count}`).join(', '));
  assert.equal(attacks, 100_000);
});
