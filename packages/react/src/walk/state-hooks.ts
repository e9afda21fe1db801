/** Hooks that keep something from one pass of a component to the next; there is a next one when it has set its own state. */
import { hasState, hookState, isRunning, running, type HookState } from '../state/running.js';

type Action = unknown;
type Reducer = (state: unknown, action: Action) => unknown;
type Dispatch = (action: Action) => void;

class Queue {
  readonly component: number;
  readonly dispatch: Dispatch = (action) => dispatchAction(this, action);
  updates: Action[] | null = null;

  constructor(component: number) {
    this.component = component;
  }
}

const RERENDERS_MAX = 25;

// State ------------------------------------------------------------------------------------------------------------

function basicReducer(state: unknown, action: Action): unknown {
  return typeof action === 'function' ? (action as (state: unknown) => unknown)(state) : action;
}

export function useState(initial: unknown): [unknown, Dispatch] {
  // Fails one call deeper, as in react-dom: component stacks are read off traces, which have a greatest depth.
  if (!isRunning()) return useReducer(basicReducer, initial);
  const hooks = hookState();
  if (hasState(hooks)) return reduceAgain(hooks, basicReducer);
  const at = hooks.next;
  hooks.next += 1;
  return addState(hooks, at, typeof initial === 'function' ? (initial as () => unknown)() : initial);
}

export function useReducer(
  reducer: Reducer,
  initialArg: unknown,
  init?: (arg: unknown) => unknown,
): [unknown, Dispatch] {
  const hooks = running();
  if (hasState(hooks)) return reduceAgain(hooks, reducer);
  const at = hooks.next;
  hooks.next += 1;
  return addState(hooks, at, init === undefined ? initialArg : init(initialArg));
}

function addState(hooks: HookState, at: number, state: unknown): [unknown, Dispatch] {
  const queue = new Queue(hooks.component);
  hooks.states[at] = state;
  hooks.details[at] = queue;
  return [state, queue.dispatch];
}

function reduceAgain(hooks: HookState, reducer: Reducer): [unknown, Dispatch] {
  const at = hooks.next;
  hooks.next += 1;
  const queue = hooks.details[at];
  // Another hook had this place before the update: what react-dom says then.
  if (!(queue instanceof Queue)) throw new TypeError("Cannot read properties of null (reading 'dispatch')");
  const { updates } = queue;
  if (updates !== null) {
    queue.updates = null;
    let state = hooks.states[at];
    for (const action of updates) state = reducer(state, action);
    hooks.states[at] = state;
  }
  return [hooks.states[at], queue.dispatch];
}

function dispatchAction(queue: Queue, action: Action): void {
  const hooks = hookState();
  if (hooks.rerenders >= RERENDERS_MAX) {
    throw new Error('Too many re-renders. React limits the number of renders to prevent an infinite loop.');
  }
  if (queue.component !== hooks.component) return;
  hooks.updated = true;
  (queue.updates ??= []).push(action);
}

// Memo and refs ----------------------------------------------------------------------------------------------------

export function useMemo(create: () => unknown, dependencies?: readonly unknown[] | null): unknown {
  const hooks = running();
  const at = hooks.next;
  if (hasState(hooks) && sameDependencies(hooks.details[at] as readonly unknown[] | null, dependencies)) {
    hooks.next += 1;
    return hooks.states[at];
  }
  // The hook has its place before `create` runs, which may call hooks itself (against the rules, but react-dom lets it).
  hooks.next += 1;
  const value = create();
  hooks.states[at] = value;
  hooks.details[at] = dependencies ?? null;
  return value;
}

function sameDependencies(
  before: readonly unknown[] | null,
  after: readonly unknown[] | null | undefined,
): boolean {
  if (before === null || after === null || after === undefined) return false;
  for (let at = 0; at < before.length && at < after.length; at += 1) {
    if (!Object.is(after[at], before[at])) return false;
  }
  return true;
}

export function useCallback(callback: unknown, dependencies?: readonly unknown[] | null): unknown {
  // As in `useState`.
  if (!isRunning()) return useMemo(() => callback, dependencies);
  const hooks = hookState();
  const at = hooks.next;
  const again = hasState(hooks);
  hooks.next += 1;
  if (again && sameDependencies(hooks.details[at] as readonly unknown[] | null, dependencies)) {
    return hooks.states[at];
  }
  hooks.states[at] = callback;
  hooks.details[at] = dependencies ?? null;
  return callback;
}

export function useRef(initial: unknown): unknown {
  const hooks = running();
  const at = hooks.next;
  const again = hasState(hooks);
  hooks.next += 1;
  if (!again) {
    hooks.states[at] = { current: initial };
    hooks.details[at] = null;
  }
  return hooks.states[at];
}
