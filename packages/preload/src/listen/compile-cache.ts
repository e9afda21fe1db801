/**
 * Writes what Node has compiled to its compile cache, for the workers that follow. By itself Node writes at a clean exit alone,
 * which a signal or a crash is not. `early.ts` has enabled the cache; without `SLUICE_COMPILE_CACHE` nothing is done here.
 */
import nodeModule from 'node:module';

/** Time after which modules that requests have loaded are written, if the app holds none then; else as much later again. */
const LATER_MS = 30_000;

/** Node.js has it from 22.10 on. */
const { flushCompileCache } = nodeModule as { flushCompileCache?: () => void };
const flush = process.env['SLUICE_COMPILE_CACHE'] ? flushCompileCache : undefined;

/** Writes what was compiled for the boot: at once, while no request can come. What the cache had already is not written. */
export function keepBoot(isIdle: () => boolean): void {
  if (flush === undefined) return;
  flush();
  const timer = setInterval(() => {
    if (!isIdle()) return;
    clearInterval(timer);
    flush();
  }, LATER_MS).unref();
}
