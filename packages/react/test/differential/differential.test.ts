/**
 * Random trees, rendered by react-dom and by Sluice: no difference that a caller could notice.
 *
 * SLUICE_TEST_LONG=1          a million trees and more
 * SLUICE_REACT_TREES=N        that many
 * SLUICE_REACT_SEED=N         from that seed
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeFallbacks } from './fallbacks.ts';
import { fuzz, type Report } from './fuzz.ts';

process.env['NODE_ENV'] = 'production';

const long = process.env['SLUICE_TEST_LONG'] === '1';
const trees = Number(process.env['SLUICE_REACT_TREES'] ?? (long ? 1_000_000 : 20_000));
const seed = process.env['SLUICE_REACT_SEED'];
/** A run of fast-check keeps nothing of a tree that passed, but its trees grow alike: begin afresh now and then. */
const trees_per_round_max = 50_000;

void test(`no difference in ${trees} trees`, async () => {
  const rounds: Report[] = [];
  for (let left = trees; left > 0; left -= trees_per_round_max) {
    const report = await fuzz({
      trees: Math.min(left, trees_per_round_max),
      ...(seed === undefined ? {} : { seed: Number(seed) + rounds.length }),
    });
    rounds.push(report);
    console.log(`React ${report.react}, seed ${report.seed}: ${report.trees} trees`);
    assert.equal(report.failure, null, report.failure ?? '');
  }
  judgeFallbacks(rounds);
});
