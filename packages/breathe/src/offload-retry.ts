/** Whether a task that failed runs again. Pure. */
import { OffloadError } from './offload-errors.js';

/** Further attempts at a task. */
export interface Retry {
  /** Most attempts after the first, from 1 to 10. */
  readonly times: number;
  /** Errors after which the task runs again, by `code` or by name. A thread that was lost, `SLU_OFFLOAD_THREAD`, is always one of them. */
  readonly on?: readonly string[];
}

const TIMES_MAX = 10;

/** @throws {RangeError} for a number out of range, {@link TypeError} where the arguments are moved. */
export function checkRetry({ times }: Retry, moved: number): void {
  if (!Number.isInteger(times) || times < 1 || times > TIMES_MAX) {
    throw new RangeError(`retry.times is ${times}; it must be a whole number from 1 to ${TIMES_MAX}`);
  }
  if (moved > 0)
    throw new TypeError(
      'a task with transfer cannot be retried, because its data moved to the thread: copy the data',
    );
}

/** `attempt`: number of attempts before the one that failed. */
export function mayRetry(retry: Retry | undefined, attempt: number, error: unknown): boolean {
  if (retry === undefined || attempt >= retry.times || !(error instanceof Error)) return false;
  if (error instanceof OffloadError && error.code === 'SLU_OFFLOAD_THREAD') return true;
  const code: unknown = 'code' in error ? error.code : undefined;
  return retry.on?.some((named) => named === code || named === error.name) ?? false;
}
