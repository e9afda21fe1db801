import { type FormatContext } from './format.js';
import { type Tag } from './host.js';
import type { Props } from './react.js';
import type { Render } from './work.js';
/** What is left to do after the start tag; NO_END: nothing. */
export interface Opened {
    readonly nodes: unknown;
    readonly end: (render: Render, tag: Tag, format: FormatContext) => void;
}
export declare const NO_END: Opened;
export type SpecialTag = (render: Render, tag: Tag, props: Props, format: FormatContext, type: string) => Opened;
export declare function opened(nodes: unknown): Opened;
/** Attributes by ordinary rules, and what stands apart from them. `special` takes a name for itself by returning true. */
export declare function attributesOf(props: Props, special: (name: string, value: unknown) => boolean): string;
export interface Content {
    children: unknown;
    inner: unknown;
}
export declare function takesContent(content: Content, name: string, value: unknown): boolean;
export declare function transitionOf(format: FormatContext): string;
/** The end of a start tag with what stands in it, `first` before all: a string for children is written at once, without text rules. */
export declare function openWith(render: Render, html: string, content: Content, first?: string): Opened;
export declare function voidTag(html: string, tag: string, props: Props, format: FormatContext): string;
export declare const SPECIAL_TAGS: Map<string, SpecialTag>;
