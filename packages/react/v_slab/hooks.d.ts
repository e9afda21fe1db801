import { type Dispatchers } from './react.js';
import { type Thenable } from './thenables.js';
/** What hooks ask of the render that they run in. */
export interface HookHost {
    makeId(localId: number): string;
    /** The path of keys to the component that runs, as react-dom spells it for action states. */
    currentKeyPath(): unknown;
    /** `[state, key, referenceId, boundArguments count]` of a form that was posted without JavaScript. */
    readonly formState: readonly unknown[] | null;
}
/**
 * The running component. Module state, since React's dispatcher is global and gives no `this`; renders within renders put it aside
 * (`enterHooks`). The numbers of the last component are read after it has returned.
 */
declare class HookState {
    host: HookHost | null;
    /** Identity of the component that runs, NONE when there is none. */
    component: number;
    /** Per hook: its state or memoised value, and its dependencies or its queue. */
    states: unknown[];
    details: unknown[];
    next: number;
    count: number;
    rerenders: number;
    updated: boolean;
    localIds: number;
    actionStates: number;
    matchingActionState: number;
    thenables: Thenable[] | null;
    thenableIndex: number;
}
export interface HookRun {
    readonly state: HookState;
    readonly dispatchers: Dispatchers;
}
/** A render begins to work: React's hooks are ours until `leaveHooks`. */
export declare function enterHooks(): HookRun;
export declare function leaveHooks(run: HookRun): void;
export type Renderable = (props: unknown, second: unknown) => unknown;
/** Calls a function component, again when it has set its own state. `thenables`: what it used before it suspended. */
export declare function callComponent(host: HookHost, render: Renderable, props: unknown, second: unknown, thenables: Thenable[] | null): unknown;
/** After a component threw. */
export declare function resetHooks(): void;
/** What a suspended component has used so far; it is given back when the component is tried again. */
export declare function takeThenables(): Thenable[] | null;
/** Whether the component that has just returned asked for ids: its children then are one step further in the tree of ids. */
export declare function usedIds(): boolean;
export declare function actionStateCount(): number;
export declare function matchingActionState(): number;
/** Also for a promise that stands among children. */
export declare function useNextThenable(thenable: Thenable): unknown;
export {};
