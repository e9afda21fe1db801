/** Duration of a profile, which the gateway or the worker's exit may end before its time. */
import { setTimeout as pause } from 'node:timers/promises';

/** Reasons for the end of a profile before its time. */
export interface Ends {
  /** The command that requested the profile was cancelled. */
  readonly cancelled: AbortSignal;
  /** The worker is to exit: the profile of the time until now is wanted. */
  readonly exits: AbortSignal;
}

/** Resolves after `duration_ms`, or when the worker is to exit. Rejects when the profile is cancelled. */
export async function lasts(duration_ms: number, { cancelled, exits }: Ends): Promise<void> {
  try {
    await pause(duration_ms, undefined, { signal: AbortSignal.any([cancelled, exits]), ref: false });
  } catch {
    cancelled.throwIfAborted();
  }
}
