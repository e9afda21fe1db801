/**
 * Random apps and histories, on react-reconciler and on ours: the same tree after each step, and the same effects, refs and life cycles in the
 * same order.
 *
 *   SLUICE_SCREENS_HISTORIES=100000 SLUICE_SEED=1 node --import tsx --test test/tree/differential/histories.test.ts
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { long, seed } from '../../../../../tests/support/chance.ts';

process.env['NODE_ENV'] = 'production';
const runs = Number(process.env['SLUICE_SCREENS_HISTORIES'] ?? (long ? 100_000 : 2_000));
/** The apps of a run of fast-check grow alike: begin afresh now and then. */
const round = 2_000;

void test(`${runs} histories give what react-reconciler gives`, async () => {
  const { difference } = await import('./compare.ts');
  const { history } = await import('./specs.ts');
  for (let done = 0; done < runs; done += round) {
    const property = fc.property(history, (given) => {
      const found = difference(given);
      assert.equal(found, null, found ?? '');
    });
    const details = fc.check(property, { numRuns: Math.min(round, runs - done), seed: (seed + done) | 0 });
    const { failed, counterexample, errorInstance } = details;
    assert.ok(
      !failed,
      `SLUICE_SEED=${seed + done}\n${JSON.stringify(counterexample)}\n${String((errorInstance as Error | null)?.message)}`,
    );
  }
});

void test('histories that have differed once do not differ', async () => {
  const { difference } = await import('./compare.ts');
  const { found } = await import('./found.ts');
  for (const [what, given] of Object.entries(found)) {
    assert.equal(difference(given), null, what);
  }
});
