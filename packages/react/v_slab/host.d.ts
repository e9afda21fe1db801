import { type ViewTransition } from './format.js';
import { type SpecialTag } from './host-special.js';
import type { Props } from './react.js';
import { type Render } from './work.js';
export interface Tag {
    /** `<div` */
    readonly open: string;
    /** `</div>` */
    readonly close: string;
    readonly special: SpecialTag | undefined;
    /** Its children are elsewhere than itself (`format.ts`). */
    readonly formats: boolean;
}
export declare function tagOf(type: string): Tag;
export declare function renderHost(render: Render, type: string, props: Props): void;
export declare function transitionAttributes(transition: ViewTransition): string;
