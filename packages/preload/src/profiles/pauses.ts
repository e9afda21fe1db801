/** Work that is done for an operator in pieces, so that the worker serves on meanwhile. */
import { setImmediate as turn } from 'node:timers/promises';
import { now_ms } from '../timers.js';

/** Time for which the worker works on it without a break. */
const PIECE_MS = 4;

/** Pause between two steps of the work: lets the worker turn to its requests when it is time. */
export type Pause = () => Promise<void> | undefined;

/** Rejects when `signal` says so. */
export function pauses(signal: AbortSignal): Pause {
  let began_ms = now_ms();
  return () => {
    if (now_ms() - began_ms < PIECE_MS) return undefined;
    return turn(undefined, { signal }).then(() => {
      began_ms = now_ms();
    });
  };
}
