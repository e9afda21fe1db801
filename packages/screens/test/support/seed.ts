// Seed of property tests: SLUICE_SEED, or one that is printed by fast-check when a test fails.
const seed = process.env['SLUICE_SEED'];

/** Parameters for `fc.assert`. */
export const runs = (numRuns: number): { numRuns: number; seed?: number } =>
  seed === undefined ? { numRuns } : { numRuns, seed: Number(seed) };
