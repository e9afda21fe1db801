/**
 * The job whose component runs. Components of Hypernova get their data alone, but those that render by an adapter have to end
 * when nobody waits for them any more. It must not know components.
 */
import type { RenderContext } from '../adapters/adapter.js';

/** Bounds renders of components that are called outside of a job, or later than its first part. */
const TIMEOUT_MS = 10_000;

let running: RenderContext | undefined;

/** Runs the synchronous part of a job's component. */
export function runJob<T>(context: RenderContext, work: () => T): T {
  const before = running;
  running = context;
  try {
    return work();
  } finally {
    running = before;
  }
}

/** Context of the job whose component runs; undefined outside of a job, and later than its first part. */
export function contextOfJob(): RenderContext | undefined {
  return running;
}

/** Aborted when nobody waits for what is rendered now. */
export function signalOfJob(): AbortSignal {
  return running?.signal ?? AbortSignal.timeout(TIMEOUT_MS);
}
