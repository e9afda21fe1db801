/**
 * React's hooks on the server: the dispatcher that components call. State is read once and never kept, except that a component which sets its own
 * state while it renders runs again (`running.ts`).
 */
import { actionState, type ServerAction } from './action-state.js';
import { readContext } from '../state/contexts.js';
import {
  CONTEXT,
  MEMO_CACHE_SENTINEL,
  RECOVERABLE,
  setDispatchers,
  type ContextLike,
  type Dispatchers,
} from '../facts/react.js';
import { createRecoverableError } from '../facts/recoverable.js';
import {
  HookState,
  hookState,
  isRunning,
  replaceHookState,
  running,
  type HookHost,
} from '../state/running.js';
import { useCallback, useMemo, useReducer, useRef, useState } from './state-hooks.js';
import { useThenable, type Thenable } from '../facts/thenables.js';
import { profile } from '../facts/profile.js';

export interface HookRun {
  readonly state: HookState;
  readonly dispatchers: Dispatchers;
}

/** A render begins to work: React's hooks are ours until `leaveHooks`. `host` is asked also where no function component has run, as in a class. */
export function enterHooks(host: HookHost): HookRun {
  const state = replaceHookState(new HookState());
  hookState().host = host;
  return { state, dispatchers: setDispatchers(dispatcher, asyncDispatcher) };
}

export function leaveHooks(run: HookRun): void {
  setDispatchers(run.dispatchers.hooks, run.dispatchers.async);
  replaceHookState(run.state);
}

function use(usable: unknown): unknown {
  if (typeof usable === 'object' && usable !== null) {
    if (typeof (usable as Thenable).then === 'function') return useNextThenable(usable as Thenable);
    const kind = (usable as ContextLike).$$typeof;
    if (kind === RECOVERABLE && profile.hooks === 'with-browser')
      throw createRecoverableError(usable as never);
    if (kind === CONTEXT) return readContext(usable as ContextLike);
  }
  throw new Error(`An unsupported type was passed to use(): ${String(usable)}`);
}

function useNextThenable(thenable: Thenable): unknown {
  const hooks = hookState();
  hooks.host?.usesPromise();
  const index = hooks.thenableIndex;
  hooks.thenableIndex += 1;
  return useThenable((hooks.thenables ??= []), thenable, index);
}

function useContext(context: ContextLike | null | undefined): unknown {
  const { host } = running();
  if (context === null || context === undefined) {
    // React has a place for each of its two renderers.
    const place = host?.mode === 'stream' ? '_currentValue' : '_currentValue2';
    throw new TypeError(`Cannot read properties of ${String(context)} (reading '${place}')`);
  }
  return readContext(context);
}

function useId(): string {
  // The one hook that does not look whether a component runs before it asks where that is.
  if (!isRunning()) throw new TypeError("Cannot read properties of null (reading 'treeContext')");
  const hooks = hookState();
  const local = hooks.localIds;
  hooks.localIds += 1;
  return (hooks.host as HookHost).makeId(local);
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
  hookState().host?.notCacheable();
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

const hooks18 = {
  readContext,
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
};

/** React 18 does not export it, but its react-dom has it. */
function useMutableSource(source: { _source: unknown }, getSnapshot: (of: unknown) => unknown): unknown {
  running();
  return getSnapshot(source._source);
}

const hooks19 = {
  ...hooks18,
  use,
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

/** Libraries look for a hook before they use it: none that this React does not have. */
const dispatcher = profile.hooks === 'of-18' ? { ...hooks18, useMutableSource } : hooks19;

const asyncDispatcher = {
  getCacheForType: fails('Not implemented.'),
  cacheSignal: fails('Not implemented.'),
};

/** Names of hooks, those of the other slot as well. */
export const hookNames: ReadonlySet<string> = new Set([
  ...Object.keys(dispatcher),
  ...Object.keys(asyncDispatcher),
]);
