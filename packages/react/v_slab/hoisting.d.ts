import { type SpecialTag } from './host-special.js';
export declare const titleElement: SpecialTag;
export declare const metaElement: SpecialTag;
export declare const linkElement: SpecialTag;
export declare const scriptElement: SpecialTag;
export declare const styleElement: SpecialTag;
export declare const imageTag: SpecialTag;
