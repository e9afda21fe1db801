/** Components: functions with hooks, and classes. */
import { readContext } from './contexts.js';
import { actionStateCount, callComponent, matchingActionState, usedIds } from './hooks.js';
import { ALONE, renderNode } from './render.js';
export function renderFunction(render, component, props, second, stopsOnAbort) {
    const { thenables } = render;
    render.thenables = null;
    const children = callComponent(render, component, props, second, thenables);
    if (stopsOnAbort && render.aborted)
        throw null;
    const ids = usedIds();
    if (render.formState !== null && actionStateCount() > 0) {
        writeActionStateMarkers(render);
        render.chained = false;
    }
    if (!ids)
        return renderNode(render, children, ALONE);
    render.chained = false;
    render.pushFork(1, 0);
    renderNode(render, children, ALONE);
    render.forks -= 1;
    return undefined;
}
/** Comments by which the client knows which of the component's action states the posted form belongs to. */
function writeActionStateMarkers(render) {
    const count = actionStateCount();
    const matching = matchingActionState();
    for (let at = 0; at < count; at += 1)
        render.out += at === matching ? '<!--F!-->' : '<!--F-->';
}
const NO_CONTEXT = {};
const updater = {
    enqueueSetState(instance, update) {
        instance._reactInternals.queue?.push(update);
    },
    enqueueReplaceState(instance, state) {
        instance._reactInternals.replace = true;
        instance._reactInternals.queue = [state];
    },
    enqueueForceUpdate() {
        // There is one render only.
    },
};
export function renderClass(render, component, given) {
    const props = classProps(component, given);
    const instance = new component(props, contextOf(component));
    const initial = instance.state === undefined ? null : instance.state;
    instance.updater = updater;
    instance.props = props;
    instance.state = initial;
    const updates = { queue: [], replace: false };
    instance._reactInternals = updates;
    instance.context = contextOf(component);
    const { getDerivedStateFromProps: derive } = component;
    if (typeof derive === 'function') {
        const derived = derive(props, initial);
        instance.state =
            derived === null || derived === undefined ? initial : Object.assign({}, initial, derived);
    }
    else if (typeof instance.getSnapshotBeforeUpdate !== 'function') {
        willMount(instance, updates, props);
    }
    const children = instance.render();
    if (render.aborted)
        throw null;
    renderNode(render, children, ALONE);
}
function contextOf({ contextType }) {
    return typeof contextType === 'object' && contextType !== null
        ? readContext(contextType)
        : NO_CONTEXT;
}
/** Classes get neither `ref` nor undefined where a default is known. */
function classProps({ defaultProps }, given) {
    let props = given;
    if ('ref' in given) {
        props = {};
        for (const name in given)
            if (name !== 'ref')
                props[name] = given[name];
    }
    if (defaultProps) {
        if (props === given)
            props = { ...given };
        for (const name in defaultProps)
            if (props[name] === undefined)
                props[name] = defaultProps[name];
    }
    return props;
}
function willMount(instance, updates, props) {
    const { componentWillMount: old, UNSAFE_componentWillMount: current } = instance;
    if (typeof old !== 'function' && typeof current !== 'function')
        return;
    const before = instance.state;
    if (typeof old === 'function')
        instance.componentWillMount?.();
    if (typeof instance.UNSAFE_componentWillMount === 'function')
        instance.UNSAFE_componentWillMount();
    if (before !== instance.state)
        updater.enqueueReplaceState(instance, instance.state);
    const { queue, replace } = updates;
    updates.queue = null;
    if (queue === null || queue.length === 0)
        return;
    updates.replace = false;
    instance.state = stateAfter(instance, queue, replace, props);
}
function stateAfter(instance, queue, replace, props) {
    if (replace && queue.length === 1)
        return queue[0];
    let state = replace ? queue[0] : instance.state;
    let copied = false;
    for (const update of replace ? queue.slice(1) : queue) {
        const partial = typeof update === 'function'
            ? update.call(instance, state, props, undefined)
            : update;
        if (partial === null || partial === undefined)
            continue;
        if (copied)
            Object.assign(state, partial);
        else {
            copied = true;
            state = Object.assign({}, state, partial);
        }
    }
    return state;
}
//# sourceMappingURL=components.js.map