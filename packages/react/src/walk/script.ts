/** Tags with raw text, and the pieces that every tag writer shares. */
import { addAttributes } from '../facts/attributes.js';
import { escapeText, toText } from '../facts/escape.js';
import type { Props } from '../facts/react.js';
import { escapeScript, type Resource } from '../state/resources.js';
import { profile } from '../facts/profile.js';

/** `dangerouslySetInnerHTML`, checked as react-dom checks it; '' when not given. */
export function innerHtml(inner: unknown, children: unknown): string {
  if (inner === null || inner === undefined) return '';
  if (children !== null && children !== undefined) {
    throw new Error('Can only set one of `children` or `props.dangerouslySetInnerHTML`.');
  }
  if (typeof inner !== 'object' || !('__html' in inner)) {
    throw new Error(
      '`props.dangerouslySetInnerHTML` must be in the form `{__html: ...}`. Please visit ' +
        `${profile.docsSite}/link/dangerously-set-inner-html for more information.`,
    );
  }
  const html = inner.__html;
  return html === null || html === undefined ? '' : toText(html);
}

function own(props: Props, name: string): unknown {
  return Object.hasOwn(props, name) ? props[name] : undefined;
}

/** The start tag of an element whose text is not rendered as children are. */
function writeStart(to: Resource, tag: string, props: Props): void {
  to.html += '<' + tag;
  addAttributes(to, props, (name) => name === 'children' || name === 'dangerouslySetInnerHTML');
  to.html += '>';
}

export function writeScript(to: Resource, props: Props): void {
  const children = own(props, 'children');
  writeStart(to, 'script', props);
  to.html += innerHtml(own(props, 'dangerouslySetInnerHTML'), children);
  if (typeof children === 'string') to.html += escapeScript(children);
  to.html += '</script>';
}

/** The one child of a tag that takes only text; undefined when there is none that can be written. */
function onlyText(children: unknown): string | undefined {
  let child = children;
  if (Array.isArray(children)) child = children.length < 2 ? children[0] : null;
  if (typeof child === 'function' || typeof child === 'symbol' || child === null || child === undefined) {
    return undefined;
  }
  return toText(child);
}

export function writeTitle(to: Resource, props: Props): void {
  const children = own(props, 'children');
  writeStart(to, 'title', props);
  const text = onlyText(children);
  if (text !== undefined) to.html += escapeText(text);
  to.html += innerHtml(own(props, 'dangerouslySetInnerHTML'), children);
  to.html += '</title>';
}

const STYLE_END = /(<\/|<)(s)(tyle)/gi;

const escapedStyleEnd = (_match: string, open: string, s: string, rest: string): string =>
  open + (s === 's' ? '\\73 ' : '\\53 ') + rest;

/** Style text that cannot end its element. */
export function writeStyleText(to: Resource, props: Props): void {
  const children = own(props, 'children');
  const text = onlyText(children) ?? '';
  // Rules hardly ever have the character, and are long.
  to.html += text.includes('<') ? text.replace(STYLE_END, escapedStyleEnd) : text;
  to.html += innerHtml(own(props, 'dangerouslySetInnerHTML'), children);
}

export function writeStyle(to: Resource, props: Props): void {
  writeStart(to, 'style', props);
  writeStyleText(to, props);
  to.html += '</style>';
}

/** The whole of what a writer writes. */
export function written(write: (to: Resource, props: Props) => void, props: Props): string {
  const to = { html: '' };
  write(to, props);
  return to.html;
}
