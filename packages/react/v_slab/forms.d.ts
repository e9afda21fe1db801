import { type SpecialTag } from './host-special.js';
export declare const selectTag: SpecialTag;
export declare const optionTag: SpecialTag;
export declare const textareaTag: SpecialTag;
export declare const inputTag: SpecialTag;
export declare const buttonTag: SpecialTag;
export declare const formTag: SpecialTag;
