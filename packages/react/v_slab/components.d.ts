import { type Renderable } from './hooks.js';
import type { Props } from './react.js';
import type { Render } from './work.js';
export declare function renderFunction(render: Render, component: Renderable, props: Props, second: unknown, stopsOnAbort: boolean): void;
type State = unknown;
interface Updates {
    queue: unknown[] | null;
    replace: boolean;
}
interface Instance {
    props: Props;
    state: State;
    context: unknown;
    updater: unknown;
    _reactInternals: Updates;
    render(): unknown;
    getSnapshotBeforeUpdate?: unknown;
    componentWillMount?: () => void;
    UNSAFE_componentWillMount?: () => void;
}
interface ComponentClass {
    new (props: Props, context: unknown): Instance;
    readonly defaultProps?: Props;
    readonly contextType?: unknown;
    readonly getDerivedStateFromProps?: unknown;
}
export declare function renderClass(render: Render, component: ComponentClass, given: Props): void;
export {};
