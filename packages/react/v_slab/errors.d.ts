import type { StackNode } from './paths.js';
import type { ErrorInfo, Render } from './work.js';
/** The stack is spelled out only when somebody reads it. */
export declare function thrownInfo(stack: StackNode | null): ErrorInfo;
/** Tells the app; returns the digest that the client gets, if any. */
export declare function logRecoverable(render: Render, error: unknown, info: ErrorInfo): string | undefined;
