import type { Thenable } from './thenables.js';
import { Segment, type Boundary, type Render, type Task } from './work.js';
/** From here on HTML goes to `segment`; the one before keeps what it has. */
export declare function switchSegment(render: Render, segment: Segment): void;
export declare function openSegment(render: Render, segment: Segment): void;
/** Makes what has been written a part, so that something else may follow it. */
export declare function spill(render: Render): void;
/** Keeps a place for `segment` at the end of what has been written. */
export declare function addSegment(render: Render, segment: Segment): void;
/** Ends the segment that is written to. Its length counts for `boundary`, or for the shell. */
export declare function finishSegment(render: Render, boundary: Boundary | null): void;
export declare function queueCompletedSegment(boundary: Boundary, segment: Segment): void;
export declare function addTask(render: Render, task: Task): Task;
export declare function waitFor(render: Render, task: Task, reason: Thenable): void;
/** The task that runs goes on at `node` later: when `reason` has come, or, without one, when the stack is empty again. */
export declare function resumeTaskLater(render: Render, node: unknown, index: number, reason: Thenable | null, thenables: Thenable[] | null): void;
