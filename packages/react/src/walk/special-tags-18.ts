/** Tags with rules of their own in React 18: nothing is hoisted or preloaded, and forms have no actions. */
import { attribute, booleanAttribute } from '../facts/attributes.js';
import { ROOT } from '../facts/format.js';
import {
  DASHED_TAGS,
  NO_END,
  attributesOf,
  custom,
  menuItem,
  ordinary,
  preformatted,
  selfClosing,
  takesContent,
  type Content,
  type SpecialTag,
} from './host-special.js';
import { optionTag, selectTag, textareaTag } from './forms.js';
import type { Props } from '../facts/react.js';

/** Its state comes last. */
const inputTag: SpecialTag = (render, tag, props) => {
  const own: Props = { checked: null, defaultChecked: null, value: null, defaultValue: null };
  const html = attributesOf(props, (name, value) => {
    if (name === 'children' || name === 'dangerouslySetInnerHTML') {
      throw new Error(
        'input is a self-closing tag and must neither have `children` nor use `dangerouslySetInnerHTML`.',
      );
    }
    if (!Object.hasOwn(own, name)) return false;
    own[name] = value;
    return true;
  });
  const checked = own['checked'] ?? own['defaultChecked'];
  const value = own['value'] ?? own['defaultValue'];
  const state =
    (checked === null ? '' : booleanAttribute('checked', checked)) +
    (value === null ? '' : attribute('value', value));
  render.out += `${tag.open}${html}${state}/>`;
  return NO_END;
};

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

export const SPECIAL_TAGS_18 = new Map<string, SpecialTag>([
  ['select', selectTag],
  ['option', optionTag],
  ['textarea', textareaTag],
  ['input', inputTag],
  ['menuitem', menuItem],
  ['title', titleTag],
  ['pre', preformatted],
  ['listing', preformatted],
  ['html', htmlTag],
  ['-', custom],
]);

for (const tag of 'area base br col embed hr img keygen link meta param source track wbr'.split(' ')) {
  SPECIAL_TAGS_18.set(tag, selfClosing);
}
for (const tag of DASHED_TAGS) SPECIAL_TAGS_18.set(tag, ordinary);
