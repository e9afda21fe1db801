import { type Render } from './work.js';
export declare function startRoot(render: Render, children: unknown, namespaceURI?: unknown): void;
