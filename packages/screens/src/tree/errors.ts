/** Values that end a render early, and errors that tell what an app did wrong. */
import { work } from './work.js';

/** A promise, or what acts like one. React notes its state in these fields. */
export interface Wakeable {
  then(resolve: (value: unknown) => void, reject: (reason: unknown) => void): unknown;
  status?: string;
  value?: unknown;
  reason?: unknown;
}

/** Thrown by `use` when it has to wait. `suspendedOn` has the promise. */
export const SUSPENDED: unknown = new Error(
  'Suspense: not an error. `use` throws it to leave the component; a `try` around `use` must not catch it.',
);
/** Thrown to leave a render that must not change the screen. */
export const ABANDONED: unknown = new Error('The render was abandoned');

let suspendedOn: Wakeable | null = null;

export function suspend(wakeable: Wakeable): never {
  suspendedOn = wakeable;
  throw SUSPENDED;
}

/** Drops the promise of the render that has ended: its value may be one visitor's. */
export function forgetSuspended(): void {
  suspendedOn = null;
}

export function isThenable(value: unknown): value is Wakeable {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  );
}

/** Promise that a thrown value stands for; null if it stands for none. */
export function wakeableOf(thrown: unknown): Wakeable | null {
  if (thrown === SUSPENDED) return suspendedOn;
  return isThenable(thrown) ? thrown : null;
}

function ignore(): void {}

/** The value of a promise that has one; else throws: its reason, or SUSPENDED. */
export function read(wakeable: Wakeable): unknown {
  if (wakeable.status === 'fulfilled') return wakeable.value;
  if (wakeable.status === 'rejected') throw wakeable.reason;
  if (typeof wakeable.status === 'string') wakeable.then(ignore, ignore);
  else {
    wakeable.status = 'pending';
    wakeable.then(
      (value) => {
        if (wakeable.status !== 'pending') return;
        wakeable.status = 'fulfilled';
        wakeable.value = value;
      },
      (reason: unknown) => {
        if (wakeable.status !== 'pending') return;
        wakeable.status = 'rejected';
        wakeable.reason = reason;
      },
    );
    // A thenable that is done calls back at once.
    const status = wakeable.status;
    if (status === 'fulfilled') return wakeable.value;
    if (status === 'rejected') throw wakeable.reason;
  }
  suspend(wakeable);
}

/** Whether a thrown value is for the renderer itself, not an error of the app. */
export function isOwn(thrown: unknown): boolean {
  return thrown === ABANDONED || wakeableOf(thrown) !== null;
}

interface LazyType {
  readonly _payload: unknown;
  readonly _init: (payload: unknown) => unknown;
}

/** The component, or whatever else was loaded. Throws the reason if loading failed, SUSPENDED while it lasts. */
export function loadLazy(lazy: unknown): unknown {
  const { _init: init, _payload: payload } = lazy as LazyType;
  try {
    return init(payload);
  } catch (thrown) {
    if (isThenable(thrown)) suspend(thrown);
    throw thrown;
  }
}

export function nameOf(type: unknown): string {
  if (typeof type === 'string') return type;
  if (typeof type !== 'function' && (typeof type !== 'object' || type === null)) return String(type);
  const named = type as { displayName?: string; name?: string; type?: unknown; render?: unknown };
  return named.displayName ?? named.name ?? nameOf(named.type ?? named.render ?? 'component');
}

export function report(error: unknown): void {
  const global = globalThis as { reportError?: (error: unknown) => void };
  if (typeof global.reportError === 'function') global.reportError(error);
  else console.error(error);
}

/** Message of an error of hooks, with the name of the component. */
export function hooksError(type: unknown, what: string): Error {
  return new Error(`${nameOf(type)}: ${what}. Call the same hooks in the same order in every render.`);
}

export function noRender(what: string): void {
  if (work.rendering) throw new Error(`${what} cannot be called during a render`);
}
