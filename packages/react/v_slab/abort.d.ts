import { type Render, type Task } from './work.js';
export declare function abort(render: Render, reason: unknown): void;
/** Marks the task; the one that is running is left to end by itself. */
export declare function abortTask(render: Render, task: Task): void;
export declare function finishAbortedTask(render: Render, task: Task, error: unknown): void;
