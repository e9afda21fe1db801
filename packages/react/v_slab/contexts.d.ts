/**
 * React contexts. Values stand in the context objects themselves, where `useContext` of any code reads them; a linked list of
 * what was provided allows to leave one task's values for another's.
 */
import type { ContextLike } from './react.js';
export interface Provided {
    readonly parent: Provided | null;
    readonly depth: number;
    readonly context: ContextLike;
    readonly before: unknown;
    readonly value: unknown;
}
export declare function readContext(context: ContextLike): unknown;
export declare function provide(context: ContextLike, value: unknown): Provided;
/** Leaves the innermost provider; returns the one around it. */
export declare function unprovide(): Provided | null;
/** From whatever is provided now to `next`, touching only where they differ. */
export declare function switchContexts(next: Provided | null): void;
export interface ContextState {
    readonly second: boolean;
    readonly current: Provided | null;
}
/** Another renderer's run begins: nothing of the present one may be seen by it, unless it has a field of its own. */
export declare function enterContexts(useSecond: boolean): ContextState;
export declare function leaveContexts(state: ContextState): void;
