import { type Render } from './work.js';
/** Index of a node that is no array's child. */
export declare const ALONE = -1;
export declare function renderNode(render: Render, node: unknown, index: number): void;
/** Thrown through the rest of a task that waits as a whole. */
export declare const CHAINED: Error;
export declare function renderArray(render: Render, children: readonly unknown[], index: number): void;
