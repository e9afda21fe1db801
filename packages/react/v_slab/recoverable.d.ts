interface BrowserOnly {
    readonly $$typeof: symbol;
    readonly _reason: unknown;
}
export declare function isBrowserOnly(value: unknown): value is BrowserOnly;
export declare function createRecoverableError({ _reason: reason }: BrowserOnly): Error;
export declare function isRecoverableError(error: unknown): error is Error;
/** Outside of every Suspense boundary nothing is left that the client could take over. */
export declare function asFatal(recoverable: Error): Error;
export {};
