/** The `Link` header that `onHeaders` gets: hints that fit in it are not written into the document as well. */
import type { Props } from './react.js';
export interface HeaderHints {
    preconnects: string;
    fontPreloads: string;
    highImagePreloads: string;
    remainingCapacity: number;
}
export declare function createHeaderHints(maxHeadersLength: unknown): HeaderHints;
type HintList = 'preconnects' | 'fontPreloads' | 'highImagePreloads';
/** True when the hint fits; what does not fit uses up the capacity all the same, as in react-dom. */
export declare function addHint(hints: HeaderHints | null, list: HintList, hint: () => string): boolean;
export declare function takeCapacity(hints: HeaderHints, text: string): boolean;
export declare function hintUrl(href: unknown): string;
export declare function hintParameter(value: unknown): string;
export declare function preloadHint(href: unknown, as: unknown, parameters: Props | undefined | null): string;
export {};
