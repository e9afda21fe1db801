/**
 * Hooks on the server: state is read once and never kept, except that a component which sets its own state while it renders runs again. One
 * component runs at a time, so its hooks stand in arrays that all components use in turn.
 */
import { actionState, type ActionStateHost, type ServerAction } from './action-state.js';
import { readContext } from './contexts.js';
import {
  CONTEXT,
  MEMO_CACHE_SENTINEL,
  RECOVERABLE,
  minor19,
  setDispatchers,
  type ContextLike,
  type Dispatchers,
} from './react.js';
import { createRecoverableError } from './recoverable.js';
import { useThenable, type Thenable } from './thenables.js';

/** What hooks ask of the render that they run in. */
export interface HookHost extends ActionStateHost {
  makeId(localId: number): string;
  /** The component depends on what is of this render only. */
  notCacheable(): void;
}

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
const NONE = 0;

/**
 * The running component. Module state, since React's dispatcher is global and gives no `this`; renders within renders put it aside
 * (`enterHooks`). The numbers of the last component are read after it has returned.
 */
class HookState {
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

/** Never used twice: a state setter that outlived its render must not be taken for one of a component of another. */
let lastComponent = NONE;

export interface HookRun {
  readonly state: HookState;
  readonly dispatchers: Dispatchers;
}

/** A render begins to work: React's hooks are ours until `leaveHooks`. */
export function enterHooks(): HookRun {
  const run = { state: now, dispatchers: setDispatchers(dispatcher, asyncDispatcher) };
  now = new HookState();
  return run;
}

export function leaveHooks(run: HookRun): void {
  setDispatchers(run.dispatchers.hooks, run.dispatchers.async);
  now = run.state;
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

/** After a component threw. */
export function resetHooks(): void {
  now.component = NONE;
  now.rerenders = 0;
  now.updated = false;
}

/** What a suspended component has used so far; it is given back when the component is tried again. */
export function takeThenables(): Thenable[] | null {
  const { thenables } = now;
  now.thenables = null;
  return thenables;
}

/** Whether the component that has just returned asked for ids: its children then are one step further in the tree of ids. */
export function usedIds(): boolean {
  return now.localIds !== 0;
}

export function actionStateCount(): number {
  return now.actionStates;
}

export function matchingActionState(): number {
  return now.matchingActionState;
}

function running(): HookState {
  if (now.component === NONE) {
    throw new Error(
      'Invalid hook call. Hooks can only be called inside of the body of a function component. This could happen for one of the following reasons:\n1. You might have mismatching versions of React and the renderer (such as React DOM)\n2. You might be breaking the Rules of Hooks\n3. You might have more than one copy of React in the same app\nSee https://react.dev/link/invalid-hook-call for tips about how to debug and fix this problem.',
    );
  }
  return now;
}

/** True when the next hook has state from before a render-phase update. */
function hasState(hooks: HookState): boolean {
  if (hooks.next < hooks.count) return true;
  if (hooks.rerenders > 0) throw new Error('Rendered more hooks than during the previous render');
  return false;
}

// State ------------------------------------------------------------------------------------------------------------

function basicReducer(state: unknown, action: Action): unknown {
  return typeof action === 'function' ? (action as (state: unknown) => unknown)(state) : action;
}

function useState(initial: unknown): [unknown, Dispatch] {
  // Fails one call deeper, as in react-dom: component stacks are read off traces, which have a greatest depth.
  if (now.component === NONE) return useReducer(basicReducer, initial);
  const hooks = now;
  if (hasState(hooks)) return reduceAgain(hooks, basicReducer);
  const at = hooks.next;
  hooks.next += 1;
  return addState(hooks, at, typeof initial === 'function' ? (initial as () => unknown)() : initial);
}

function useReducer(
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
  if (now.rerenders >= RERENDERS_MAX) {
    throw new Error('Too many re-renders. React limits the number of renders to prevent an infinite loop.');
  }
  if (queue.component !== now.component) return;
  now.updated = true;
  (queue.updates ??= []).push(action);
}

// Memo and refs ----------------------------------------------------------------------------------------------------

function useMemo(create: () => unknown, dependencies?: readonly unknown[] | null): unknown {
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

function useCallback(callback: unknown, dependencies?: readonly unknown[] | null): unknown {
  // As in `useState`.
  if (now.component === NONE) return useMemo(() => callback, dependencies);
  const hooks = now;
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

function useRef(initial: unknown): unknown {
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

// Everything that has no state of its own --------------------------------------------------------------------------

function use(usable: unknown): unknown {
  if (typeof usable === 'object' && usable !== null) {
    if (typeof (usable as Thenable).then === 'function') return useNextThenable(usable as Thenable);
    const kind = (usable as ContextLike).$$typeof;
    if (kind === RECOVERABLE && minor19 >= 3) throw createRecoverableError(usable as never);
    if (kind === CONTEXT) return readContext(usable as ContextLike);
  }
  throw new Error(`An unsupported type was passed to use(): ${String(usable)}`);
}

/** Also for a promise that stands among children. */
export function useNextThenable(thenable: Thenable): unknown {
  const hooks = now;
  hooks.host?.notCacheable();
  const index = hooks.thenableIndex;
  hooks.thenableIndex += 1;
  return useThenable((hooks.thenables ??= []), thenable, index);
}

function useContext(context: ContextLike): unknown {
  running();
  return readContext(context);
}

function useId(): string {
  const { host } = running();
  const local = now.localIds;
  now.localIds += 1;
  return (host as HookHost).makeId(local);
}

function useSyncExternalStore(
  _subscribe: unknown,
  _getSnapshot: unknown,
  getServerSnapshot?: () => unknown,
): unknown {
  if (getServerSnapshot === undefined) {
    throw new Error(
      'Missing getServerSnapshot, which is required for server-rendered content. Will revert to client rendering.',
    );
  }
  now.host?.notCacheable();
  return getServerSnapshot();
}

function useActionState(
  action: ServerAction,
  initialState: unknown,
  permalink?: string,
): [unknown, unknown, boolean] {
  const hooks = running();
  const index = hooks.actionStates;
  hooks.actionStates += 1;
  const host = hooks.host as HookHost;
  const state = actionState(host, action, initialState, permalink, index);
  if (state.matches) hooks.matchingActionState = index;
  return [state.value, state.dispatch, false];
}

const NOT_PENDING = { pending: false, data: null, method: null, action: null };

function fails(message: string): () => never {
  return () => {
    throw new Error(message);
  };
}

const failStartTransition = fails('startTransition cannot be called during server rendering.');
const failSetOptimistic = fails('Cannot update optimistic state while rendering.');
const failRefresh = fails('Cache cannot be refreshed during server rendering.');
const failEffectEvent = fails("A function wrapped in useEffectEvent can't be called during rendering.");

function nothing(): void {
  // Effects do not run on the server.
}

const dispatcher = {
  readContext,
  use,
  useContext,
  useMemo,
  useReducer,
  useRef,
  useState,
  useInsertionEffect: nothing,
  useLayoutEffect: nothing,
  useCallback,
  useImperativeHandle: nothing,
  useEffect: nothing,
  useDebugValue: nothing,
  useDeferredValue(value: unknown, initial?: unknown): unknown {
    running();
    return initial === undefined ? value : initial;
  },
  useTransition(): [boolean, () => never] {
    running();
    return [false, failStartTransition];
  },
  useId,
  useSyncExternalStore,
  useOptimistic(passthrough: unknown): [unknown, () => never] {
    running();
    return [passthrough, failSetOptimistic];
  },
  useActionState,
  useFormState: useActionState,
  useHostTransitionStatus(): typeof NOT_PENDING {
    running();
    return NOT_PENDING;
  },
  useMemoCache(size: number): unknown[] {
    return Array.from({ length: size }, () => MEMO_CACHE_SENTINEL);
  },
  useCacheRefresh: () => failRefresh,
  useEffectEvent: () => failEffectEvent,
};

const asyncDispatcher = {
  getCacheForType: fails('Not implemented.'),
  cacheSignal: fails('Not implemented.'),
};
