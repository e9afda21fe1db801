/** Timers and the clock of the preload, taken before the app can replace them, by fake timers for example. */
import { now_ms } from '#host/cpu-clock.js';

export const later = setTimeout;
export const every = setInterval;
export const noLater = clearTimeout;
export const nextTurn = setImmediate;
export { active_us, now_ms } from '#host/cpu-clock.js';

const start_us = Number(process.hrtime.bigint() / 1000n) - now_ms() * 1000;

/** The system's monotonic clock, which V8 gives the times of samples in. */
export function clock_us(): number {
  return Math.round(start_us + now_ms() * 1000);
}
