/** Start up to the value of `id`, and end. */
type Wrapper = readonly [open: string, close: string];
export declare function segmentWrapper(mode: number): Wrapper;
export {};
