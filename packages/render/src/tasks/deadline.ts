/**
 * Time limits that are honest. A timer that fires while the process was busy says nothing about the reply it guards: that may
 * lie unread in its socket. So the event loop reads its sockets once more before anything is called late.
 */

import { now_us } from '#host/cpu-clock.js';

/** Turns of the event loop after the timer: one reads the sockets, one runs what they have set off. */
const TURNS = 2;

export interface Deadline {
  /** Clears the deadline: the awaited thing has come. */
  clear(): void;
}

/** Due times of open deadlines, in microseconds of `now_us`. */
const open = new Set<{ readonly due_us: number }>();

/** Returns the time at which the first open deadline is due; infinity if there is none. */
export function soonestDue_us(): number {
  let soonest_us = Number.POSITIVE_INFINITY;
  for (const { due_us } of open) if (due_us < soonest_us) soonest_us = due_us;
  return soonest_us;
}

/** Calls `late` once, `ms` milliseconds from now at the earliest. */
export function startDeadline(ms: number, late: () => void): Deadline {
  const entry = { due_us: now_us() + ms * 1000 };
  let turn: NodeJS.Immediate | undefined;
  const wait = (turns: number): void => {
    if (!open.has(entry)) return;
    if (turns === 0) {
      open.delete(entry);
      late();
    } else turn = setImmediate(wait, turns - 1);
  };
  open.add(entry);
  const timer = setTimeout(wait, ms, TURNS);
  return {
    clear() {
      open.delete(entry);
      clearTimeout(timer);
      clearImmediate(turn);
    },
  };
}

/**
 * Resolves with `work`'s result; rejects with `lateError()` if there is none after `ms` milliseconds. `work` itself
 * continues.
 */
export async function withDeadline<T>(work: PromiseLike<T>, ms: number, lateError: () => Error): Promise<T> {
  let deadline: Deadline | undefined;
  const lateness = new Promise<never>((_resolve, reject) => {
    deadline = startDeadline(ms, () => reject(lateError()));
  });
  try {
    return await Promise.race([work, lateness]);
  } finally {
    deadline?.clear();
  }
}
