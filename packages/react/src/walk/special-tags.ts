/** Tags with rules of their own, by name. */
import { DOCUMENT, ROOT } from '../facts/format.js';
import { documentTag } from './documents.js';
import { buttonTag, formTag, inputTag, optionTag, selectTag, textareaTag } from './forms.js';
import { imageTag, linkElement, metaElement, scriptElement, styleElement, titleElement } from './hoisting.js';
import {
  DASHED_TAGS,
  custom,
  menuItem,
  objectTag,
  ordinary,
  preformatted,
  selfClosing,
  type SpecialTag,
} from './host-special.js';

export const SPECIAL_TAGS = new Map<string, SpecialTag>([
  ['select', selectTag],
  ['option', optionTag],
  ['textarea', textareaTag],
  ['input', inputTag],
  ['button', buttonTag],
  ['form', formTag],
  ['menuitem', menuItem],
  ['object', objectTag],
  ['title', titleElement],
  ['link', linkElement],
  ['script', scriptElement],
  ['style', styleElement],
  ['meta', metaElement],
  ['pre', preformatted],
  ['listing', preformatted],
  ['img', imageTag],
  ['head', documentTag('head', DOCUMENT)],
  ['body', documentTag('body', DOCUMENT)],
  ['html', documentTag('html', ROOT)],
  ['-', custom],
]);

for (const tag of 'base area br col embed hr keygen param source track wbr'.split(' ')) {
  SPECIAL_TAGS.set(tag, selfClosing);
}

for (const tag of DASHED_TAGS) SPECIAL_TAGS.set(tag, ordinary);
