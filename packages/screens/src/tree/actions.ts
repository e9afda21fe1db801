/* oxlint-disable unicorn/no-thenable -- React waits for what acts like a promise */
/** Asynchronous actions: transitions whose function returns a promise. All that run share one lane, and end together. */
import { onTransitionReturned } from './react.js';
import { isThenable, suspend, type Wakeable } from './errors.js';
import { transitionLane } from './schedule.js';

/** Promise for the end of all asynchronous actions. */
class Scope implements Wakeable {
  status = 'pending';
  value = undefined;
  readonly lane: number;
  running = 0;
  readonly listeners: ((value: unknown) => void)[] = [];

  constructor(lane: number) {
    this.lane = lane;
  }

  then(resolve: (value: unknown) => void): void {
    this.listeners.push(resolve);
  }
}

let scope: Scope | null = null;

/** Lane of the asynchronous actions that run; 0 for none. */
export function asynchronousLane(): number {
  return scope === null ? 0 : scope.lane;
}

export function isAsynchronousLane(lane: number): boolean {
  return scope !== null && lane === scope.lane;
}

/** Suspends the render until the asynchronous actions have ended. */
export function asynchronousAction(): void {
  if (scope !== null) suspend(scope);
}

onTransitionReturned((_transition, result) => {
  if (!isThenable(result)) return;
  const current = (scope ??= new Scope(transitionLane()));
  current.running++;
  const ended = (): void => {
    if (--current.running > 0 || scope !== current) return;
    scope = null;
    current.status = 'fulfilled';
    for (const listener of current.listeners) listener(undefined);
  };
  result.then(ended, ended);
});
