/** Tags with rules of their own, by name. In React 18 nothing is hoisted or preloaded, and forms have no actions. */
import { DOCUMENT, ROOT } from '../facts/format.js';
import { profile } from '../facts/profile.js';
import { documentTag } from './documents.js';
import { buttonTag, formTag, inputTag, optionTag, selectTag, textareaTag } from './forms.js';
import { imageTag, linkElement, metaElement, scriptElement, styleElement, titleElement } from './hoisting.js';
import {
  DASHED_TAGS,
  attributesOf,
  custom,
  menuItem,
  objectTag,
  ordinary,
  preformatted,
  selfClosing,
  takesContent,
  type Content,
  type SpecialTag,
} from './host-special.js';

const tags = new Map<string, SpecialTag>([
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
  tags.set(tag, selfClosing);
}

for (const tag of DASHED_TAGS) tags.set(tag, ordinary);

// React 18 ---------------------------------------------------------------------------------------------------------

const titleTag: SpecialTag = (render, tag, props) => {
  const content: Content = { children: null, inner: null };
  const html = attributesOf(props, (name, value) => {
    if (name === 'dangerouslySetInnerHTML') {
      throw new Error('`dangerouslySetInnerHTML` does not make sense on <title>.');
    }
    return takesContent(content, name, value);
  });
  render.out += `${tag.open}${html}>`;
  return content.children;
};

/** A stream that begins with it is a document; strings are parts of one. */
const htmlTag: SpecialTag = (render, tag, props, format, type) => {
  if (format.mode === ROOT && render.mode === 'stream') render.out += '<!DOCTYPE html>';
  return ordinary(render, tag, props, format, type);
};

if (profile.head === 'in-place') {
  for (const tag of 'button form object script style head body'.split(' ')) tags.delete(tag);
  for (const tag of ['img', 'link', 'meta']) tags.set(tag, selfClosing);
  tags.set('title', titleTag).set('html', htmlTag);
}

export const SPECIAL_TAGS: ReadonlyMap<string, SpecialTag> = tags;
