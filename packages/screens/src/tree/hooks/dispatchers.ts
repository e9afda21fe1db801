/** Dispatchers: the hooks that React finds in its slot, for a first render, for others, and outside of components. */
import type { Context } from '../react.js';
import { readContext } from './cursor.js';
import * as effects from './effects.js';
import * as state from './state.js';
import { mountStore, updateStore } from './store.js';
import * as transitions from './transitions.js';
import * as values from './values.js';

function nothing(): void {}
const notPending = { pending: false, data: null, method: null, action: null };
const noStatus = (): unknown => notPending;
const noRefresh = (): (() => void) => nothing;

export const MOUNT = {
  readContext,
  use: values.use,
  useContext: (context: Context) => readContext(context),
  useCallback: values.mountCallback,
  useMemo: values.mountMemo,
  useRef: values.mountRef,
  useState: state.mountState,
  useReducer: state.mountReducer,
  useEffect: effects.mountEffect,
  useLayoutEffect: effects.mountLayoutEffect,
  useInsertionEffect: effects.mountInsertionEffect,
  useImperativeHandle: effects.mountImperativeHandle,
  useEffectEvent: effects.mountEffectEvent,
  useDebugValue: nothing,
  useDeferredValue: values.mountDeferredValue,
  useTransition: transitions.mountTransition,
  useSyncExternalStore: mountStore,
  useId: values.mountId,
  useOptimistic: transitions.mountOptimistic,
  useActionState: transitions.mountActionState,
  useFormState: transitions.mountActionState,
  useMemoCache: values.mountMemoCache,
  useHostTransitionStatus: noStatus,
  useCacheRefresh: noRefresh,
};

export const UPDATE: { readonly [name in keyof typeof MOUNT]: unknown } = {
  readContext,
  use: values.use,
  useContext: MOUNT.useContext,
  useCallback: values.updateCallback,
  useMemo: values.updateMemo,
  useRef: values.updateValue,
  useState: state.updateState,
  useReducer: state.updateReducer,
  useEffect: effects.updateEffect,
  useLayoutEffect: effects.updateLayoutEffect,
  useInsertionEffect: effects.updateInsertionEffect,
  useImperativeHandle: effects.updateImperativeHandle,
  useEffectEvent: effects.updateEffectEvent,
  useDebugValue: nothing,
  useDeferredValue: values.updateDeferredValue,
  useTransition: transitions.updateTransition,
  useSyncExternalStore: updateStore,
  useId: values.updateValue,
  useOptimistic: transitions.updateOptimistic,
  useActionState: transitions.updateActionState,
  useFormState: transitions.updateActionState,
  useMemoCache: values.updateMemoCache,
  useHostTransitionStatus: noStatus,
  useCacheRefresh: noRefresh,
};

function outside(): never {
  throw new Error('Invalid hook call. Hooks can only be called inside of the body of a function component.');
}

/** Hooks in the slot while classes, `children` functions and effects run. */
export const OUTSIDE: { readonly [name in keyof typeof MOUNT]: unknown } = {
  ...(Object.fromEntries(Object.keys(MOUNT).map((name) => [name, outside])) as {
    [name in keyof typeof MOUNT]: unknown;
  }),
  readContext,
  use: outside,
};
