import { seed } from '../../../../tests/support/chance.ts';

/** Parameters for `assert` of fast-check. */
export const runs = (numRuns: number): { numRuns: number; seed: number } => ({ numRuns, seed });
