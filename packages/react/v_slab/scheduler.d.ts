import { type Render, type Task } from './work.js';
export declare function performWork(render: Render): void;
export declare function pingTask(render: Render, task: Task): void;
export declare function startWork(render: Render): void;
export declare function enqueueFlush(render: Render): void;
