import type { Render } from './work.js';
export declare function emitEarlyPreloads(render: Render, shellIsComplete: boolean): void;
