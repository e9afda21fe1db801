/**
 * Where in a document the renderer is: what react-dom calls the format context. It decides which tags become part of the document's
 * head, how a late piece is wrapped for transport, and which option is selected.
 */
import type { Props } from './react.js';
export declare const ROOT = 0;
export declare const DOCUMENT = 1;
export declare const HTML = 2;
export declare const HEAD = 3;
export declare const SVG = 4;
export declare const MATHML = 5;
export declare const TABLE = 6;
export declare const TABLE_BODY = 7;
export declare const TABLE_ROW = 8;
export declare const COLUMN_GROUP = 9;
export declare const IN_NOSCRIPT = 1;
export declare const IN_PICTURE = 2;
export declare const IN_FALLBACK = 4;
export declare const SHOWS_WITH_IMAGES = 64;
/** Set in `RenderState.instructions` when the client needs the script that animates late content. */
export declare const NEEDS_VIEW_TRANSITIONS = 128;
export interface ViewTransition {
    readonly update: string;
    readonly enter: string;
    readonly exit: string;
    readonly share: string;
    readonly name: string;
    readonly autoName: string;
    nameIndex: number;
}
export interface FormatContext {
    readonly mode: number;
    readonly selected: unknown;
    readonly scope: number;
    readonly transition: ViewTransition | null;
    /** Children of an ordinary element here have the same context: the way through almost every element. */
    readonly plain: boolean;
}
export declare function rootFormat(namespaceURI?: unknown): FormatContext;
/** The tags whose children are elsewhere than the tag itself is. */
export declare const FORMATTING_TAGS: Set<string>;
export declare function childFormat(parent: FormatContext, tag: string, props: Props): FormatContext;
/** Where bits about the client's scripts are gathered. */
interface Instructions {
    instructions: number;
}
export declare function fallbackFormat(state: Instructions, parent: FormatContext): FormatContext;
export declare function contentFormat(parent: FormatContext): FormatContext;
export declare function transitionFormat(state: Instructions, parent: FormatContext, props: Props, autoName: string): FormatContext;
export {};
