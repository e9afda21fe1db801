/**
 * The variable that changes bounds of the gateway for a test: constants of `gateway/catalog/src/config/bounds.rs` by name, each in the unit
 * of its name. For rules that could not be seen with the constants of production, in time or at all.
 */
export function bounds(changed: Readonly<Record<string, number>>): { SLUICE_TEST_BOUNDS: string } {
  return { SLUICE_TEST_BOUNDS: JSON.stringify(changed) };
}
