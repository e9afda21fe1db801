// The first page says what was measured.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withComparison } from './comparison.ts';
import { read } from './repository.ts';

void test('the table of the first page is made from the published results', () => {
  const page = read('README.md');
  assert.equal(page, withComparison(page), 'run `make generate`');
});
