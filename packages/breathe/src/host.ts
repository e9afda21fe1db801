/**
 * Meeting point of this package and Sluice's preload, which knows who waits for the main thread, and whose CPU time is
 * whose. It must not know loops.
 */

export interface Host {
  /** Whether another request is known to wait for this thread. Asked once a used-up budget. */
  somebodyWaits(): boolean;
  /**
   * The request that runs has work done by another thread from now on. Returns what takes the CPU time of that work, in
   * microseconds, at its end; a second call is ignored.
   */
  offloads(): (cpu_us: number) => void;
}

/** The number changes with the shape of `Host`, so that versions that differ do not meet. */
export const hostKey = Symbol.for('sluice.breathe.1');

/** Undefined without Sluice, and in threads that do not serve. */
export function findHost(): Host | undefined {
  return (globalThis as { readonly [hostKey]?: Host })[hostKey];
}
