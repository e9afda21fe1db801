/* oxlint-disable unicorn/no-thenable -- React waits for what acts like a promise */
/**
 * Asynchronous actions: transitions whose function returns a promise. All that run in a scope share one lane, and end together. As in React, roots share
 * a scope; but a still root, which stands for one visitor of a server, has its own, and no other one holds it back.
 */
import type { Node } from './node.js';
import { onTransitionReturned, transitionReturned, type Transition } from './react.js';
import { isThenable, suspend, type Wakeable } from './errors.js';
import type { Root } from './root.js';
import { actingRoot, rootOf, setActor, transitionLane } from './schedule.js';
import { work } from './work.js';

/** Promise for the end of all asynchronous actions of a scope. */
export class Scope implements Wakeable {
  status = 'pending';
  value = undefined;
  readonly lane: number;
  /** Still root whose scope it is; null for the shared one, or once it was dropped. */
  root: Root | null;
  running = 0;
  readonly listeners: ((value: unknown) => void)[] = [];

  constructor(lane: number, root: Root | null) {
    this.lane = lane;
    this.root = root;
  }

  then(resolve: (value: unknown) => void): void {
    this.listeners.push(resolve);
  }

  /** Notes that one of the actions has ended. */
  ended(): void {
    if (--this.running > 0) return;
    if (this === shared) shared = null;
    else if (this.root === null) return;
    else dropOwnScope(this.root);
    this.status = 'fulfilled';
    for (const listener of this.listeners) listener(undefined);
  }
}

let shared: Scope | null = null;
/** Number of still roots with a scope. */
let own = 0;

/** Lane of the asynchronous actions that all roots share; 0 for none. */
export function asynchronousLane(): number {
  return shared === null ? 0 : shared.lane;
}

/** Lane of the asynchronous actions of the node's still root; 0 for none. */
export function ownLane(node: Node): number {
  return own === 0 ? 0 : (rootOf(node)?.scope?.lane ?? 0);
}

function scopeOf(root: Root | null): Scope | null {
  return root !== null && root.isStill ? root.scope : shared;
}

/** Whether asynchronous actions that concern the root that renders have this lane. */
export function isAsynchronousLane(lane: number): boolean {
  return scopeOf(work.root)?.lane === lane;
}

/** Suspends the render until the asynchronous actions have ended. */
export function asynchronousAction(): void {
  const scope = scopeOf(work.root);
  if (scope !== null) suspend(scope);
}

/** Forgets the actions of a still root. */
export function dropOwnScope(root: Root): void {
  const { scope } = root;
  if (scope === null) return;
  root.scope = null;
  scope.root = null;
  own--;
}

function open(root: Root | null): Scope {
  if (root === null || !root.isStill) return (shared ??= new Scope(transitionLane(null), null));
  if (root.scope === null) {
    root.scope = new Scope(transitionLane(root.node), root);
    own++;
  }
  return root.scope;
}

onTransitionReturned((_transition, result) => {
  if (!isThenable(result)) return;
  const scope = open(actingRoot());
  scope.running++;
  const ended = (): void => scope.ended();
  result.then(ended, ended);
});

/** Tells that a transition of this node's component has returned. */
export function actionReturned(node: Node, current: Transition, result: unknown): void {
  const outer = isThenable(result) ? setActor(rootOf(node)) : actingRoot();
  try {
    transitionReturned(current, result);
  } finally {
    setActor(outer);
  }
}
