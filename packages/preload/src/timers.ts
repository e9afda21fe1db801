/** Timers and the clock of the preload, taken before the app can replace them, by fake timers for example. */
export const later = setTimeout;
export const every = setInterval;
export const noLater = clearTimeout;
export const nextTurn = setImmediate;
export const now_ms = performance.now.bind(performance);

const { nodeTiming } = performance;

/** Microseconds for which the event loop was not idle: its own CPU time, and what others took from it meanwhile. */
export function active_us(at_ms: number): number {
  return (at_ms - nodeTiming.idleTime) * 1000;
}

const start_us = Number(process.hrtime.bigint() / 1000n) - now_ms() * 1000;

/** The system's monotonic clock, which V8 gives the times of samples in. */
export function clock_us(): number {
  return Math.round(start_us + now_ms() * 1000);
}
