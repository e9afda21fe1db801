/**
 * The same comparison with each minor version of React that Sluice knows.
 *
 * SLUICE_TEST_LONG=1                 a hundred thousand trees of each
 * SLUICE_REACT_VERSIONS=18.3,19.0    only these
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeFallbacks } from '../differential/fallbacks.ts';
import { fuzz } from '../differential/fuzz.ts';
import { faithful } from '../differential/mutants.ts';
import { install, minors } from './install.ts';

process.env['NODE_ENV'] = 'production';

const trees = process.env['SLUICE_TEST_LONG'] === '1' ? 100_000 : 2_000;
const chosen = process.env['SLUICE_REACT_VERSIONS']?.split(',') ?? minors;

for (const minor of chosen) {
  void test(`React ${minor}: no difference in ${trees} trees`, async () => {
    const react = install(minor);
    const report = await fuzz({ trees, react });
    console.log(`React ${report.react}, seed ${report.seed}: ${report.trees} trees`);
    assert.ok(report.react.startsWith(`${minor}.`), `found React ${report.react}`);
    assert.equal(report.failure, null, report.failure ?? '');
    judgeFallbacks([report]);
  });

  void test(`React ${minor}: react-dom does not differ from itself`, async () => {
    const { failure } = await fuzz({ trees: 300, react: install(minor), mutant: faithful[0] ?? '' });
    assert.equal(failure, null, failure ?? '');
  });
}
