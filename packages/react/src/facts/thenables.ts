/** `use` of promises: their state is kept in the promise itself, as React's protocol for thenables has it. */
import { profile } from './profile.js';

export interface Thenable {
  then(resolve: (value: unknown) => void, reject: (error: unknown) => void): unknown;
  status?: unknown;
  value?: unknown;
  reason?: unknown;
}

export function isThenable(value: unknown): value is Thenable {
  return typeof value === 'object' && value !== null && typeof (value as Thenable).then === 'function';
}

/** Thrown by `use` in place of the promise, so that user code which catches promises does not take it for its own. */
export const SUSPENDED = new Error(
  "Suspense Exception: This is not a real error! It's an implementation detail of `use` to interrupt the current render. You must either rethrow it immediately, or move the `use` call outside of the `try/catch` block. Capturing without rethrowing will lead to unexpected behavior.\n\nTo handle async errors, wrap your component in an error boundary, or call the promise's `.catch` method and pass the result to `use`" +
    profile.suspendedEnd,
);

/** Thrown through the rest of a task that waits as a whole. */
export const CHAINED = new Error('Internal to the renderer: the task waits.');

let suspendedOn: Thenable | null = null;

/** Returns what was really thrown: the promise, when it was `SUSPENDED`. */
export function unwrapThrown(thrown: unknown): unknown {
  if (thrown !== SUSPENDED) return thrown;
  if (suspendedOn === null) {
    throw new Error('Expected a suspended thenable. This is a bug in React. Please file an issue.');
  }
  const thenable = suspendedOn;
  suspendedOn = null;
  return thenable;
}

function ignore(): void {
  // The promise is tracked elsewhere; this only keeps a rejection from being unhandled.
}

/** The value of the promise that a component used at this place, or throws: its error, or `SUSPENDED`. */
export function useThenable(tracked: Thenable[], given: Thenable, index: number): unknown {
  let thenable = given;
  const earlier = tracked[index];
  if (earlier === undefined) tracked.push(thenable);
  else if (earlier !== thenable) {
    // A promise made anew in each attempt: the first one counts.
    void thenable.then(ignore, ignore);
    thenable = earlier;
  }
  if (!isSettled(thenable)) {
    if (typeof thenable.status === 'string') void thenable.then(ignore, ignore);
    else track(thenable);
  }
  if (thenable.status === 'fulfilled') return thenable.value;
  if (thenable.status === 'rejected') throw rejection(thenable);
  suspendedOn = thenable;
  throw SUSPENDED;
}

function isSettled(thenable: Thenable): boolean {
  return thenable.status === 'fulfilled' || thenable.status === 'rejected';
}

function rejection(thenable: Thenable): unknown {
  if (thenable.reason === undefined && !('reason' in thenable) && profile.rejections === 'with-reason') {
    return new Error(
      "A rejected Promise was passed to React without a `reason` property. React threw a generic error from where the Promise was used to assist in identifying the problematic Promise. Make sure that instrumented Promises correctly set the `reason` property when setting `status` to `'rejected'`.",
    );
  }
  return thenable.reason;
}

function track(thenable: Thenable): void {
  thenable.status = 'pending';
  void thenable.then(
    (value) => {
      if (thenable.status !== 'pending') return;
      thenable.status = 'fulfilled';
      thenable.value = value;
    },
    (reason: unknown) => {
      if (thenable.status !== 'pending') return;
      thenable.status = 'rejected';
      thenable.reason = reason;
    },
  );
}
