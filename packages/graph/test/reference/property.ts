/** Properties whose failure says what it takes to replay it. */
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { seed } from '../../../../tests/support/chance.js';

/** Checks a property `runs` times. SLUICE_SEED=N replays a run. */
export async function check<T>(
  property: fc.IAsyncProperty<T> | fc.IProperty<T>,
  runs: number,
): Promise<void> {
  const details = await fc.check(property as fc.IAsyncProperty<T>, { numRuns: runs, seed });
  const { failed, counterexample, errorInstance, counterexamplePath } = details;
  const cause = errorInstance instanceof Error ? errorInstance.stack : String(errorInstance);
  const replay = `SLUICE_SEED=${seed}, path ${counterexamplePath}`;
  assert.ok(!failed, `${JSON.stringify(counterexample)}\n${replay}\n${cause}`);
}
