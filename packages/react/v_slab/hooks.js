/**
 * Hooks on the server: state is read once and never kept, except that a component which sets its own state while it renders runs again. One
 * component runs at a time, so its hooks stand in arrays that all components use in turn.
 */
import { createPostbackKey } from './action-state.js';
import { readContext } from './contexts.js';
import { CONTEXT, MEMO_CACHE_SENTINEL, RECOVERABLE, setDispatchers, } from './react.js';
import { createRecoverableError } from './recoverable.js';
import { useThenable } from './thenables.js';
const RERENDERS_MAX = 25;
const NONE = 0;
/**
 * The running component. Module state, since React's dispatcher is global and gives no `this`; renders within renders put it aside
 * (`enterHooks`). The numbers of the last component are read after it has returned.
 */
class HookState {
    host = null;
    /** Identity of the component that runs, NONE when there is none. */
    component = NONE;
    /** Per hook: its state or memoised value, and its dependencies or its queue. */
    states = [];
    details = [];
    next = 0;
    count = 0;
    rerenders = 0;
    updated = false;
    localIds = 0;
    actionStates = 0;
    matchingActionState = -1;
    thenables = null;
    thenableIndex = 0;
}
let now = new HookState();
/** Never used twice: a state setter that outlived its render must not be taken for one of a component of another. */
let lastComponent = NONE;
/** A render begins to work: React's hooks are ours until `leaveHooks`. */
export function enterHooks() {
    const run = { state: now, dispatchers: setDispatchers(dispatcher, asyncDispatcher) };
    now = new HookState();
    return run;
}
export function leaveHooks(run) {
    setDispatchers(run.dispatchers.hooks, run.dispatchers.async);
    now = run.state;
}
/** Calls a function component, again when it has set its own state. `thenables`: what it used before it suspended. */
export function callComponent(host, render, props, second, thenables) {
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
export function resetHooks() {
    now.component = NONE;
    now.rerenders = 0;
    now.updated = false;
}
/** What a suspended component has used so far; it is given back when the component is tried again. */
export function takeThenables() {
    const { thenables } = now;
    now.thenables = null;
    return thenables;
}
/** Whether the component that has just returned asked for ids: its children then are one step further in the tree of ids. */
export function usedIds() {
    return now.localIds !== 0;
}
export function actionStateCount() {
    return now.actionStates;
}
export function matchingActionState() {
    return now.matchingActionState;
}
function running() {
    if (now.component === NONE) {
        throw new Error('Invalid hook call. Hooks can only be called inside of the body of a function component. This could happen for one of the following reasons:\n1. You might have mismatching versions of React and the renderer (such as React DOM)\n2. You might be breaking the Rules of Hooks\n3. You might have more than one copy of React in the same app\nSee https://react.dev/link/invalid-hook-call for tips about how to debug and fix this problem.');
    }
    return now;
}
/** True when the next hook has state from before a render-phase update. */
function hasState(hooks) {
    if (hooks.next < hooks.count)
        return true;
    if (hooks.rerenders > 0)
        throw new Error('Rendered more hooks than during the previous render');
    return false;
}
// State ------------------------------------------------------------------------------------------------------------
function basicReducer(state, action) {
    return typeof action === 'function' ? action(state) : action;
}
function useState(initial) {
    const hooks = running();
    if (hasState(hooks))
        return reduceAgain(hooks, basicReducer);
    const at = hooks.next;
    hooks.next += 1;
    return addState(hooks, at, typeof initial === 'function' ? initial() : initial);
}
function useReducer(reducer, initialArg, init) {
    const hooks = running();
    if (hasState(hooks))
        return reduceAgain(hooks, reducer);
    const at = hooks.next;
    hooks.next += 1;
    return addState(hooks, at, init === undefined ? initialArg : init(initialArg));
}
function addState(hooks, at, state) {
    const queue = {
        component: hooks.component,
        updates: null,
        dispatch: (action) => dispatchAction(queue, action),
    };
    hooks.states[at] = state;
    hooks.details[at] = queue;
    return [state, queue.dispatch];
}
function reduceAgain(hooks, reducer) {
    const at = hooks.next;
    hooks.next += 1;
    const queue = hooks.details[at];
    const { updates } = queue;
    if (updates !== null) {
        queue.updates = null;
        let state = hooks.states[at];
        for (const action of updates)
            state = reducer(state, action);
        hooks.states[at] = state;
    }
    return [hooks.states[at], queue.dispatch];
}
function dispatchAction(queue, action) {
    if (now.rerenders >= RERENDERS_MAX) {
        throw new Error('Too many re-renders. React limits the number of renders to prevent an infinite loop.');
    }
    if (queue.component !== now.component)
        return;
    now.updated = true;
    (queue.updates ??= []).push(action);
}
// Memo and refs ----------------------------------------------------------------------------------------------------
function useMemo(create, dependencies) {
    const hooks = running();
    const at = hooks.next;
    if (hasState(hooks) && sameDependencies(hooks.details[at], dependencies)) {
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
function sameDependencies(before, after) {
    if (before === null || after === null || after === undefined)
        return false;
    for (let at = 0; at < before.length && at < after.length; at += 1) {
        if (!Object.is(after[at], before[at]))
            return false;
    }
    return true;
}
function useCallback(callback, dependencies) {
    const hooks = running();
    const at = hooks.next;
    const again = hasState(hooks);
    hooks.next += 1;
    if (again && sameDependencies(hooks.details[at], dependencies)) {
        return hooks.states[at];
    }
    hooks.states[at] = callback;
    hooks.details[at] = dependencies ?? null;
    return callback;
}
function useRef(initial) {
    const hooks = running();
    const at = hooks.next;
    const again = hasState(hooks);
    hooks.next += 1;
    if (!again)
        hooks.states[at] = { current: initial };
    return hooks.states[at];
}
// Everything that has no state of its own --------------------------------------------------------------------------
function use(usable) {
    if (typeof usable === 'object' && usable !== null) {
        if (typeof usable.then === 'function')
            return useNextThenable(usable);
        const kind = usable.$$typeof;
        if (kind === RECOVERABLE)
            throw createRecoverableError(usable);
        if (kind === CONTEXT)
            return readContext(usable);
    }
    throw new Error(`An unsupported type was passed to use(): ${String(usable)}`);
}
/** Also for a promise that stands among children. */
export function useNextThenable(thenable) {
    const hooks = now;
    const index = hooks.thenableIndex;
    hooks.thenableIndex += 1;
    return useThenable((hooks.thenables ??= []), thenable, index);
}
function useContext(context) {
    running();
    return readContext(context);
}
function useId() {
    const { host } = running();
    const local = now.localIds;
    now.localIds += 1;
    return host.makeId(local);
}
function useSyncExternalStore(_subscribe, _getSnapshot, getServerSnapshot) {
    if (getServerSnapshot === undefined) {
        throw new Error('Missing getServerSnapshot, which is required for server-rendered content. Will revert to client rendering.');
    }
    return getServerSnapshot();
}
function useActionState(action, initialState, permalink) {
    const host = running().host;
    const index = now.actionStates;
    now.actionStates += 1;
    if (typeof action.$$FORM_ACTION !== 'function') {
        const bound = action.bind(null, initialState);
        return [initialState, (payload) => void bound(payload), false];
    }
    const path = host.currentKeyPath();
    let key = null;
    const postbackKey = () => (key ??= createPostbackKey(permalink, path, index));
    let state = initialState;
    const { formState } = host;
    if (formState !== null && typeof action.$$IS_SIGNATURE_EQUAL === 'function') {
        if (action.$$IS_SIGNATURE_EQUAL(formState[2], formState[3]) && formState[1] === postbackKey()) {
            now.matchingActionState = index;
            state = formState[0];
        }
    }
    const bound = action.bind(null, state);
    const dispatch = ((payload) => void bound(payload));
    if (typeof bound.$$FORM_ACTION === 'function') {
        dispatch.$$FORM_ACTION = (prefix) => {
            const fields = bound.$$FORM_ACTION(prefix);
            if (permalink !== undefined)
                fields.action = `${permalink}`;
            if (fields.data)
                fields.data.append('$ACTION_KEY', postbackKey());
            return fields;
        };
    }
    return [state, dispatch, false];
}
const NOT_PENDING = { pending: false, data: null, method: null, action: null };
function fails(message) {
    return () => {
        throw new Error(message);
    };
}
const failStartTransition = fails('startTransition cannot be called during server rendering.');
const failSetOptimistic = fails('Cannot update optimistic state while rendering.');
const failRefresh = fails('Cache cannot be refreshed during server rendering.');
const failEffectEvent = fails("A function wrapped in useEffectEvent can't be called during rendering.");
function nothing() {
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
    useDeferredValue(value, initial) {
        running();
        return initial === undefined ? value : initial;
    },
    useTransition() {
        running();
        return [false, failStartTransition];
    },
    useId,
    useSyncExternalStore,
    useOptimistic(passthrough) {
        running();
        return [passthrough, failSetOptimistic];
    },
    useActionState,
    useFormState: useActionState,
    useHostTransitionStatus() {
        running();
        return NOT_PENDING;
    },
    useMemoCache(size) {
        return Array.from({ length: size }, () => MEMO_CACHE_SENTINEL);
    },
    useCacheRefresh: () => failRefresh,
    useEffectEvent: () => failEffectEvent,
};
const asyncDispatcher = {
    getCacheForType: fails('Not implemented.'),
    cacheSignal: fails('Not implemented.'),
};
//# sourceMappingURL=hooks.js.map