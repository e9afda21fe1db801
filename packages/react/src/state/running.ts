/**
 * The component that runs: one at a time, so its hooks stand in arrays that all components use in turn. A component that sets its own state while
 * it renders runs again.
 */
import type { Thenable } from '../facts/thenables.js';
import { profile } from '../facts/profile.js';

/** Services that hooks ask of the render that they run in. */
export interface HookHost {
  readonly mode: 'string' | 'markup' | 'stream';
  /** `[state, key, referenceId, number of bound arguments]` of a form that was posted without JavaScript. */
  readonly formState: readonly unknown[] | null;
  /** The path of keys to the component that runs, as react-dom spells it. */
  currentKeyPath(): unknown;
  makeId(localId: number): string;
  /** The component depends on what is of this render only. */
  notCacheable(): void;
  /** The component uses a promise. */
  usesPromise(): void;
}

const NONE = 0;

/**
 * The running component. Module state, since React's dispatcher is global and gives no `this`; renders within renders put it aside
 * (`replaceHookState`). The numbers of the last component are read after it has returned.
 */
export class HookState {
  host: HookHost | null = null;
  /** Identity of the component that runs, NONE when there is none. */
  component = NONE;
  /** Per hook: its state or memoised value, and its dependencies or its queue. */
  states: unknown[] = [];
  details: unknown[] = [];
  next = 0;
  count = 0;
  rerenders = 0;
  updated = false;
  localIds = 0;
  actionStates = 0;
  matchingActionState = -1;
  thenables: Thenable[] | null = null;
  thenableIndex = 0;
}

let now = new HookState();

/**
 * Number of the latest component, never used twice: a state setter that outlived its render must not be taken for one
 * of another component.
 */
let lastComponent = NONE;

/** Puts the state of one render's components in the place of another's, which is returned to be put back. */
export function replaceHookState(next: HookState): HookState {
  const before = now;
  now = next;
  return before;
}

/** The state of the component that runs, or ran last. */
export function hookState(): HookState {
  return now;
}

export type Renderable = (props: unknown, second: unknown) => unknown;

/** Calls a function component, again when it has set its own state. `thenables`: what it used before it suspended. */
export function callComponent(
  host: HookHost,
  render: Renderable,
  props: unknown,
  second: unknown,
  thenables: Thenable[] | null,
): unknown {
  const hooks = now;
  hooks.host = host;
  lastComponent += 1;
  hooks.component = lastComponent;
  hooks.next = 0;
  hooks.count = 0;
  hooks.localIds = 0;
  hooks.actionStates = 0;
  hooks.matchingActionState = -1;
  hooks.thenables = thenables;
  hooks.thenableIndex = 0;
  let children = render(props, second);
  while (hooks.updated) {
    hooks.updated = false;
    hooks.rerenders += 1;
    hooks.count = Math.max(hooks.count, hooks.next);
    hooks.next = 0;
    hooks.localIds = 0;
    hooks.actionStates = 0;
    hooks.matchingActionState = -1;
    hooks.thenableIndex = 0;
    children = render(props, second);
  }
  hooks.component = NONE;
  hooks.rerenders = 0;
  return children;
}

/** Whether a component runs. */
export function isRunning(): boolean {
  return now.component !== NONE;
}

/** Resets the hooks after a component threw. */
export function resetHooks(): void {
  now.component = NONE;
  now.rerenders = 0;
  now.updated = false;
}

/** Takes the promises that a suspended component has used so far; they are given back when it is tried again. */
export function takeThenables(): Thenable[] | null {
  const { thenables } = now;
  now.thenables = null;
  return thenables;
}

/** Whether the component that has returned last asked for ids: its children then are one step further in the tree of ids. */
export function usedIds(): boolean {
  return now.localIds !== 0;
}

export function actionStateCount(): number {
  return now.actionStates;
}

export function matchingActionState(): number {
  return now.matchingActionState;
}

/** Throws where no component runs. */
export function running(): HookState {
  if (now.component === NONE) {
    throw new Error(
      'Invalid hook call. Hooks can only be called inside of the body of a function component. This could happen for one of the following reasons:\n1. You might have mismatching versions of React and the renderer (such as React DOM)\n2. You might be breaking the Rules of Hooks\n3. You might have more than one copy of React in the same app\n' +
        `See ${profile.docsSite}/link/invalid-hook-call for tips about how to debug and fix this problem.`,
    );
  }
  return now;
}

/** True when the next hook has state from before a render-phase update. */
export function hasState(hooks: HookState): boolean {
  if (hooks.next < hooks.count) return true;
  if (hooks.rerenders > 0) throw new Error('Rendered more hooks than during the previous render');
  return false;
}
