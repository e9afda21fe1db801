/** Takes over from `early.ts`: what other preloads have asked to listen before this one was there listens now. */
import type { Early } from './early.js';

/** Gives `listen()` back, to be caught; the function that it returns makes the calls again. */
export function takeEarlyCalls(): () => void {
  const early = (globalThis as unknown as Record<symbol, Early | undefined>)[Symbol.for('sluice.early')];
  if (early === undefined) return () => {};
  early.end();
  return () => {
    for (const { server, parts } of early.calls.splice(0)) {
      try {
        Reflect.apply(server.listen, server, parts);
      } catch (error) {
        // Who called is not there any more to catch it.
        process.nextTick(() => server.emit('error', error));
      }
    }
  };
}
