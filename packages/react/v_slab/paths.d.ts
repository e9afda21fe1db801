/** `[parent, name, key or index]`, as react-dom has it: it is hashed as JSON. */
export type KeyPath = readonly [KeyPath, string | null, unknown] | null;
export interface StackNode {
    readonly parent: StackNode | null;
    readonly type: unknown;
}
export declare function keyPathOf(base: KeyPath, nodes: readonly unknown[], indexes: readonly number[], depth: number): KeyPath;
export declare function stackOf(base: StackNode | null, nodes: readonly unknown[], depth: number): StackNode | null;
export declare function componentName(type: unknown): string | null;
