// Chance in tests. One variable, SLUICE_SEED, replays any of them. The short tier has always the same seed, because its
// outcome must not depend on chance; the long tier (SLUICE_TEST_LONG=1) draws one.

export const long = process.env['SLUICE_TEST_LONG'] === '1';

/** `make` gives the same to tests in Rust. */
export const seed = Number(
  process.env['SLUICE_SEED'] ?? (long ? Math.trunc(Math.random() * 2 ** 31) : 20_250_101),
);
if (!Number.isSafeInteger(seed)) throw new Error(`SLUICE_SEED is no number: ${process.env['SLUICE_SEED']}`);

/** A whole number from 0 and below the bound. */
export type Random = (below: number) => number;

/** mulberry32: small, and the same everywhere. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return Math.floor((((value ^ (value >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
