/** `use` of promises: their state is kept in the promise itself, as React's protocol for thenables has it. */
export interface Thenable {
    then(resolve: (value: unknown) => void, reject: (error: unknown) => void): unknown;
    status?: unknown;
    value?: unknown;
    reason?: unknown;
}
export declare function isThenable(value: unknown): value is Thenable;
/** Thrown by `use` in place of the promise, so that user code which catches promises does not take it for its own. */
export declare const SUSPENDED: Error;
/** What was really thrown: the promise, when it was `SUSPENDED`. */
export declare function unwrapThrown(thrown: unknown): unknown;
/** The value of the promise that a component used at this place, or throws: its error, or `SUSPENDED`. */
export declare function useThenable(tracked: Thenable[], given: Thenable, index: number): unknown;
