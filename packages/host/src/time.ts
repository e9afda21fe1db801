/** The clock, taken before the app can replace it, by fake timers for example. */
export const now_ms = performance.now.bind(performance);

const { nodeTiming } = performance;

/** Microseconds for which the event loop was not idle: its own CPU time, and what others took from it meanwhile. */
export function active_us(at_ms: number): number {
  return (at_ms - nodeTiming.idleTime) * 1000;
}

/** Microseconds of the wall clock, which never go back. */
export function now_us(): number {
  return now_ms() * 1000;
}
