import type { Props } from './react.js';
import { Boundary, type Render } from './work.js';
/** Whether content that is ready may still be sent after its fallback, so as not to hold up the rest. */
export declare function mayBeOutlined(render: Render, boundary: Boundary): boolean;
export declare function renderSuspense(render: Render, props: Props): void;
