/** Ways from the root to a place in the tree: as keys (for posted forms) and as component types (for error messages). */
import { ACTIVITY, CONSUMER, CONTEXT, FORWARD_REF, FRAGMENT, LAZY, MEMO, OPTIMISTIC_KEY, PORTAL, PROFILER, STRICT_MODE, SUSPENSE, SUSPENSE_LIST, VIEW_TRANSITION, } from './react.js';
const CLIENT_REFERENCE = Symbol.for('react.client.reference');
export function keyPathOf(base, nodes, indexes, depth) {
    let path = base;
    for (let at = 0; at < depth; at += 1) {
        const node = nodes[at];
        const index = indexes[at];
        if (Array.isArray(node))
            path = [path, 'Fragment', index];
        else {
            const { type, key } = node;
            const place = index === -1 ? 0 : index;
            const unkeyed = key === null || key === undefined || key === OPTIMISTIC_KEY;
            path = [path, componentName(type), unkeyed ? place : key];
        }
    }
    return path;
}
export function stackOf(base, nodes, depth) {
    let stack = base;
    for (let at = 0; at < depth; at += 1) {
        const node = nodes[at];
        if (!Array.isArray(node))
            stack = { parent: stack, type: node.type };
    }
    return stack;
}
const BUILT_IN_NAMES = new Map([
    [FRAGMENT, 'Fragment'],
    [PROFILER, 'Profiler'],
    [STRICT_MODE, 'StrictMode'],
    [SUSPENSE, 'Suspense'],
    [SUSPENSE_LIST, 'SuspenseList'],
    [ACTIVITY, 'Activity'],
    [VIEW_TRANSITION, 'ViewTransition'],
]);
export function componentName(type) {
    if (type === null || type === undefined)
        return null;
    if (typeof type === 'string')
        return type;
    const named = type;
    if (typeof type === 'function') {
        return named.$$typeof === CLIENT_REFERENCE ? null : named.displayName || named.name || null;
    }
    const builtIn = BUILT_IN_NAMES.get(type);
    if (builtIn !== undefined || typeof type !== 'object')
        return builtIn ?? null;
    switch (named.$$typeof) {
        case PORTAL:
            return 'Portal';
        case CONTEXT:
            return named.displayName || 'Context';
        case CONSUMER:
            return `${named._context?.displayName || 'Context'}.Consumer`;
        case FORWARD_REF: {
            if (named.displayName)
                return named.displayName;
            const inner = named.render?.displayName || named.render?.name || '';
            return inner === '' ? 'ForwardRef' : `ForwardRef(${inner})`;
        }
        case MEMO:
            return named.displayName ?? (componentName(named.type) || 'Memo');
        case LAZY:
            try {
                return componentName(named._init?.(named._payload));
            }
            catch {
                return null;
            }
        default:
            return null;
    }
}
//# sourceMappingURL=paths.js.map