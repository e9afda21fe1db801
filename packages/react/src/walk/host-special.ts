/**
 * Tags with rules of their own. Each writes its start (or all of itself) and says what children are to be rendered into it. Form controls
 * are in `forms.ts`, the document's own tags in `documents.ts`, what belongs into its head in `hoisting.ts`.
 */
import {
  addAttributes,
  customAttribute,
  namedAttribute,
  refuseContent,
  sanitizeUrl,
} from '../facts/attributes.js';
import { escapeText, toText } from '../facts/escape.js';
import type { FormatContext, ViewTransition } from '../facts/format.js';
import type { Props } from '../facts/react.js';
import type { Resource } from '../state/resources.js';
import { innerHtml } from './script.js';
import type { Render } from '../state/render.js';

export interface Tag {
  /** `<div` */
  readonly open: string;
  /** `<div>` */
  readonly whole: string;
  /** `</div>` */
  readonly close: string;
  readonly special: SpecialTag | undefined;
  /** True if its children are elsewhere than itself (`format.ts`). */
  readonly formats: boolean;
  readonly isAnchor: boolean;
  readonly isDocument: boolean;
}

/** The tag is complete: it has neither children nor an end. */
export const NO_END = Symbol('no end');

/** Writes the start of a tag; returns the children to be rendered into it, or NO_END. */
export type SpecialTag = (
  render: Render,
  tag: Tag,
  props: Props,
  format: FormatContext,
  type: string,
) => unknown;

export function attributesOf(props: Props, special: (name: string, value: unknown) => boolean): string {
  const to = { html: '' };
  addAttributes(to, props, special);
  return to.html;
}

export interface Content {
  children: unknown;
  inner: unknown;
}

export function takesContent(content: Content, name: string, value: unknown): boolean {
  if (name === 'children') content.children = value;
  else if (name === 'dangerouslySetInnerHTML') content.inner = value;
  else return false;
  return true;
}

export function transitionAttributes(transition: ViewTransition): string {
  let html = '';
  if (transition.name !== 'auto') {
    const { name, nameIndex } = transition;
    html += namedAttribute('vt-name', nameIndex === 0 ? name : `${name}_${nameIndex}`);
    transition.nameIndex += 1;
  }
  html += namedAttribute('vt-update', transition.update);
  if (transition.enter !== 'none') html += namedAttribute('vt-enter', transition.enter);
  if (transition.exit !== 'none') html += namedAttribute('vt-exit', transition.exit);
  if (transition.share !== 'none') html += namedAttribute('vt-share', transition.share);
  return html;
}

export function transitionOf(format: FormatContext): string {
  return format.transition === null ? '' : transitionAttributes(format.transition);
}

/** The end of a start tag with what stands in it, `first` before all: a string for children is written at once, without text rules. */
export function openWith(render: Render, html: string, content: Content, first = ''): unknown {
  const { children, inner } = content;
  render.out += `${html}>${first}${innerHtml(inner, children)}`;
  if (typeof children !== 'string') return children;
  render.out += escapeText(children);
  return null;
}

export function writeVoid(
  to: Resource,
  open: string,
  tag: string,
  props: Props,
  format: FormatContext,
): void {
  to.html += open;
  addAttributes(to, props, (name) => refuseContent(tag, name));
  to.html += transitionOf(format) + '/>';
}

export function voidTag(open: string, tag: string, props: Props, format: FormatContext): string {
  const to = { html: '' };
  writeVoid(to, open, tag, props, format);
  return to.html;
}

export const selfClosing: SpecialTag = (render, tag, props, format, type) => {
  render.out += voidTag(tag.open, type, props, format);
  return NO_END;
};

export const menuItem: SpecialTag = (render, tag, props, format) => {
  const html = attributesOf(props, (name) => {
    if (name !== 'children' && name !== 'dangerouslySetInnerHTML') return false;
    throw new Error('menuitems cannot have `children` nor `dangerouslySetInnerHTML`.');
  });
  render.out += `${tag.open}${html}${transitionOf(format)}>`;
  return null;
};

export const objectTag: SpecialTag = (render, tag, props, format) => {
  const content: Content = { children: null, inner: null };
  const to = { html: tag.open };
  addAttributes(to, props, (name, value) => {
    if (name !== 'data') return takesContent(content, name, value);
    const url = sanitizeUrl(toText(value));
    if (url !== '') to.html += ` data="${escapeText(url)}"`;
    return true;
  });
  return openWith(render, to.html + transitionOf(format), content);
};

/** `<pre>`: browsers drop a first line break, so one more is written. */
export const preformatted: SpecialTag = (render, tag, props, format) => {
  const content: Content = { children: null, inner: null };
  const html = attributesOf(props, (name, value) => takesContent(content, name, value));
  const { children, inner } = content;
  const raw = innerHtml(inner, children);
  const isString =
    inner !== null && typeof inner === 'object' && typeof (inner as { __html?: unknown }).__html === 'string';
  render.out += `${tag.open}${html}${transitionOf(format)}>`;
  if (isString && raw.startsWith('\n')) render.out += '\n';
  render.out += raw;
  if (typeof children === 'string' && children.startsWith('\n')) render.out += '\n';
  return children;
};

export const custom: SpecialTag = (render, tag, props, format) => {
  const content: Content = { children: null, inner: null };
  let html = tag.open;
  attributesOf(props, (name, value) => {
    if (!takesContent(content, name, value)) html += customAttribute(name, value);
    return true;
  });
  render.out += `${html}${transitionOf(format)}>${innerHtml(content.inner, content.children)}`;
  return content.children;
};

/** Names with a dash that are ordinary tags of SVG and MathML. */
export const DASHED_TAGS =
  'annotation-xml color-profile font-face font-face-src font-face-uri font-face-format font-face-name missing-glyph'.split(
    ' ',
  );

export const ordinary: SpecialTag = (render, { open }, props, format) => {
  const content: Content = { children: null, inner: null };
  const html = attributesOf(props, (name, value) => takesContent(content, name, value));
  return openWith(render, open + html + transitionOf(format), content);
};
