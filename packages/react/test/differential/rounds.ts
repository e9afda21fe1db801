/**
 * How many trees each test renders, with which seed.
 *
 * SLUICE_TEST_LONG=1    a million trees instead of 20,000
 * SLUICE_REACT_TREES=N  that many
 * SLUICE_SEED=N         from that seed; at random in long tests, and always the same in the others
 */

import assert from 'node:assert/strict';
import { long, seed as seed_first } from '../../../../tests/support/chance.ts';
import { fuzz, type FuzzOptions } from './fuzz.ts';

process.env['NODE_ENV'] = 'production';

const trees_all = Number(process.env['SLUICE_REACT_TREES'] ?? (long ? 1_000_000 : 20_000));
/** The trees of a run of fast-check grow alike: begin afresh now and then. */
const trees_per_round_max = 50_000;
const rounds_max = 1_000;

/** The newest version gets half of all trees, the others the other half. */
export const share_newest = 0.5;
/** Of all trees, and of those of the newest version: they go through the CommonJS build. */
export const share_commonjs = 0.05;

export interface Part {
  /** Of all trees. */
  readonly share: number;
  /** Which one: each part has trees of its own. */
  readonly index: number;
}

/** Prints the seed of each round, and fails at the first difference. */
export async function noDifference(part: Part, options: Omit<FuzzOptions, 'trees'> = {}): Promise<void> {
  const trees = Math.round(trees_all * part.share);
  let renders = 0;
  let hits_all = 0;
  const left = new Map<string, number>();
  for (let done = 0, round = 0; done < trees; round += 1) {
    const some = Math.min(trees - done, trees_per_round_max);
    const seed = (seed_first + part.index * rounds_max + round) | 0;
    const report = await fuzz({ ...options, trees: some, seed });
    const { react, trees: compared, templates, hits } = report;
    console.log(
      `React ${react}, seed ${seed}: ${compared} trees, ${templates} templates, ${hits} cache hits`,
    );
    assert.equal(report.failure, null, report.failure ?? '');
    done += some;
    renders += report.renders;
    hits_all += hits;
    for (const [reason, count] of Object.entries(report.fallbacks))
      left.set(reason, (left.get(reason) ?? 0) + count);
  }
  // Otherwise what is kept has not been compared.
  if (trees >= 1_000) assert.ok(hits_all > 0, 'nothing came out of the component cache');
  for (const [reason, count] of left)
    console.log(
      `left to react-dom: ${((100 * count) / renders).toFixed(2)} % of ${renders} renders, ${reason}`,
    );
}
