/** Lanes: priorities of updates as bits. The numbers and their order are React's, so that batches form as React forms them. */

export const NO_LANES = 0;
/** Key events and updates from layout effects. */
export const SYNC = 2;
/** All other updates. */
export const DEFAULT = 32;
/** Lanes that render together, before all others. */
export const URGENT = 42;
/** Ten lanes: transitions that do not touch the same state render apart. */
export const TRANSITIONS = 0x3ff00;
export const FIRST_TRANSITION = 0x100;
/** Deferred values. */
export const DEFERRED = 0x3c0000;
export const FIRST_DEFERRED = 0x40000;
/** Boundaries whose data has arrived. */
export const RETRY = 0x400000;
/** Lanes that leave the screen as it is while they suspend. */
export const PATIENT = TRANSITIONS | DEFERRED;
/** Lanes of updates, without retries. */
export const UPDATES = URGENT | TRANSITIONS;

/** The lanes of `pending` that render next. */
export function highest(pending: number): number {
  const urgent = pending & URGENT;
  if (urgent !== 0) return urgent;
  const first = pending & -pending;
  if ((first & DEFERRED) !== 0) return pending & DEFERRED;
  return first;
}
