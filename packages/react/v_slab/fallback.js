/** Renders that are react-dom's: why, and how many. Nobody's page depends on what this renderer cannot do. */
import { knownVersion, ReactDOM, version } from './react.js';
let renders = 0;
let fallbacks = 0;
const reasons = new Map();
const listeners = new Set();
/** Calls `listener` for every render that is left to react-dom, until the returned function is called. */
export function onFallback(listener) {
    listeners.add(listener);
    return () => {
        listeners.delete(listener);
    };
}
/** Since the process began. */
export function statistics() {
    return { renders, fallbacks, reasons: Object.fromEntries(reasons) };
}
export function countRender() {
    renders += 1;
}
export function countFallback(fallback) {
    fallbacks += 1;
    reasons.set(fallback.reason, (reasons.get(fallback.reason) ?? 0) + 1);
    for (const listener of listeners)
        listener(fallback);
}
let warned = false;
/** Why no render of this process can be ours; null when they can. */
export function reasonToDelegate() {
    if (process.env['NODE_ENV'] !== 'production')
        return 'development build';
    if (knownVersion)
        return null;
    if (!warned) {
        warned = true;
        console.warn(`@sluice/react does not know React ${version} with react-dom ${ReactDOM.version}: react-dom renders.`);
    }
    return 'unknown React version';
}
//# sourceMappingURL=fallback.js.map