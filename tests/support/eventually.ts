// Polling with a deadline, in place of sleeping and hoping.
import { setTimeout as wait } from 'node:timers/promises';

type Truthy<T> = Exclude<T, false | null | undefined>;

/**
 * Calls `check` until it neither throws nor returns false, null or undefined, and returns what it returned. After
 * `deadlineMs` throws, with the last failure as the cause.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { deadlineMs = 10_000, pauseMs = 20, what = 'the condition' } = {},
): Promise<Truthy<T>> {
  const until = performance.now() + deadlineMs;
  let last: unknown = 'never checked';
  do {
    try {
      const value = await check();
      if (value !== false && value !== null && value !== undefined) return value as Truthy<T>;
      last = `was ${String(value)}`;
    } catch (error) {
      last = error;
    }
    await wait(pauseMs);
  } while (performance.now() < until);
  throw new Error(`${what} did not come true within ${deadlineMs} ms`, { cause: last });
}
