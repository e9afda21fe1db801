import { type Boundary, type Render, type Segment, type Task } from './work.js';
export declare function performTask(render: Render, task: Task): void;
export declare function fatalError(render: Render, error: unknown): void;
export declare function endLifetime(render: Render): void;
/** A task is done, or is not needed any more (then `segment` is not completed, or null). */
export declare function finishedTask(render: Render, boundary: Boundary | null, segment: Segment | null): void;
export declare function completeShell(render: Render): void;
export declare function completeAll(render: Render): void;
