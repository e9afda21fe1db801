/**
 * `useId`: an id that spells the way from the root to the component, one group of bits for each array of children (index in length). The
 * way is kept as two stacks of integers and spelled out only when a component asks.
 */
export interface TreeId {
    /** Up to 30 bits, with a leading one. */
    readonly bits: number;
    /** Base 32 digits that did not fit. */
    readonly overflow: string;
}
export declare const ROOT_ID: TreeId;
export declare function forkedId(base: TreeId, lengths: readonly number[], indexes: readonly number[], forks: number): TreeId;
export declare function spellId({ bits, overflow }: TreeId): string;
