import { type Props } from './react.js';
import type { Render } from './work.js';
export declare function renderWrapper(render: Render, type: unknown, props: Props): void;
