/** What may be left to react-dom: it is right there too, but slow, and nobody would notice. */

import assert from 'node:assert/strict';
import type { Report } from './fuzz.ts';

/** The largest share of all renders, by reason; a reason that is not here must not occur. */
const shares_max: Readonly<Record<string, number>> = {
  // Its postponed state is react-dom's own. A sixth of the scenarios are prerendered, and a third of these aborted.
  'prerender with a signal': 0.1,
  // Once in a process, where a string is the first to need them.
  'client scripts not known yet': 0.01,
  // An experiment, which only some builds export.
  SuspenseList: 0.05,
};

/** Prints the shares by reason, and fails where one is larger than it may be. */
export function judgeFallbacks(rounds: readonly Report[]): void {
  const byReason = new Map<string, number>();
  for (const { fallbacks } of rounds)
    for (const [reason, count] of Object.entries(fallbacks))
      byReason.set(reason, (byReason.get(reason) ?? 0) + count);
  const renders = rounds.reduce((sum, each) => sum + each.renders, 0);
  for (const [reason, count] of byReason) {
    const share = count / renders;
    console.log(`left to react-dom: ${(100 * share).toFixed(2)} % of ${renders} renders, ${reason}`);
    assert.ok(
      share <= (shares_max[reason] ?? 0),
      `${reason}: ${count} of ${renders} renders were left to react-dom`,
    );
  }
}
