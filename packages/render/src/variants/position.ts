/** A stable place between 0 and 1 for a visitor. It must not know what is decided by it. */
import { createHash } from 'node:crypto';

/**
 * Returns a place from 0 to below 1, the same for the same visitor and salt in every process and version. Another salt
 * gives a place that has nothing to do with the first, so that two experiments do not split visitors alike.
 */
export function positionOf(visitor: string, salt: string): number {
  // The length keeps `a` + `bc` and `ab` + `c` apart.
  const digest = createHash('sha256').update(`${salt.length}:${salt}${visitor}`).digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}
