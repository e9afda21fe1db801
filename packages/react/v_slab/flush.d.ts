import { type Render, type Sink } from './work.js';
export declare function flushCompleted(render: Render, sink: Sink): void;
