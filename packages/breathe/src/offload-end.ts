/** Ends of a task before its result: the caller's signal, a client that has left, the time limit. It must not know threads. */
import { OffloadError } from './offload-errors.js';

/** The part of a `ServerResponse` that says when its client has left. */
export interface Leaving {
  readonly writableFinished: boolean;
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/** The most that a timer of Node can wait for. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface End {
  /** Aborted with the reason for which the task ends. */
  readonly signal: AbortSignal;
  /** Nothing ends it any more. */
  forget(): void;
}

interface Enders {
  readonly signal?: AbortSignal;
  readonly response?: Leaving;
}

export function endOn({ signal, response }: Enders, timeout_ms: number): End {
  if (!(timeout_ms > 0)) throw new RangeError(`timeout_ms is ${timeout_ms}; it must be above 0`);
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal?.reason);
  const onClose = (): void => {
    if (response?.writableFinished === false) controller.abort(clientLeft());
  };
  if (signal?.aborted === true) onAbort();
  else if (response?.destroyed === true) onClose();
  signal?.addEventListener('abort', onAbort, { once: true });
  response?.once('close', onClose);
  const timer =
    timeout_ms > TIMER_MS_MAX
      ? undefined
      : setTimeout(() => controller.abort(timedOut(timeout_ms)), timeout_ms).unref();
  return {
    signal: controller.signal,
    forget() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      response?.off('close', onClose);
    },
  };
}

function clientLeft(): OffloadError {
  return new OffloadError('SLU_OFFLOAD_LEFT', 'the client has left, so its offloaded task was stopped');
}

function timedOut(timeout_ms: number): OffloadError {
  return new OffloadError(
    'SLU_OFFLOAD_TIMEOUT',
    `an offloaded task had no result after ${timeout_ms} ms, including its wait for a thread; raise timeout_ms or give the task less work`,
  );
}
