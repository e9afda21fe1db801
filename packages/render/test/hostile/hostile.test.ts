// Whatever headers, encodings, names, props and ids clients and services send, the process goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seed } from '../../../../tests/support/chance.js';
import { survive } from './survive.js';

test('3,000 hostile requests to fragments, pages, services and holes end nothing', async (t) => {
  const { attacks, statuses } = await survive(t, 3_000, seed);
  assert.equal(attacks, 3_000);
  // They reach what is behind the parsers, and are refused in each of the ways there are.
  for (const status of ['200', '400', '404', '405', '413', '415', '502', 'left']) {
    assert.ok((statuses.get(status) ?? 0) > 0, `${status}: ${[...statuses].join(' ')}`);
  }
});
