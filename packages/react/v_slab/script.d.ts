import type { Props } from './react.js';
/** `dangerouslySetInnerHTML`, checked as react-dom checks it; '' when not given. */
export declare function innerHtml(inner: unknown, children: unknown): string;
export declare function scriptTag(props: Props): string;
export declare function titleTag(props: Props): string;
/** Style text that cannot end its element. */
export declare function styleText(props: Props): string;
export declare function styleTag(props: Props): string;
