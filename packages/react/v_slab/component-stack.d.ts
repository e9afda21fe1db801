/** The `componentStack` of `onError`: one line for each component, innermost first, with the place in its source where it can be found. */
import type { StackNode } from './paths.js';
export declare function describeStack(stack: StackNode): string;
