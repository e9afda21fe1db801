/**
 * Tags with rules of their own. Each writes its start (or all of itself) and says what children are to be rendered into it. Form controls
 * are in `forms.ts`, what belongs into the head in `hoisting.ts`.
 */
import { attribute, customAttribute, sanitizeUrl } from './attributes.js';
import { escapeText } from './escape.js';
import { DOCUMENT, ROOT, type FormatContext } from './format.js';
import { buttonTag, formTag, inputTag, optionTag, selectTag, textareaTag } from './forms.js';
import { transitionAttributes, type Tag } from './host.js';
import { imageTag, linkElement, metaElement, scriptElement, styleElement, titleElement } from './hoisting.js';
import type { Props } from './react.js';
import type { Preamble } from './resources.js';
import { innerHtml } from './script.js';
import type { Render } from './work.js';

/** What is left to do after the start tag; NO_END: nothing. */
export interface Opened {
  readonly nodes: unknown;
  readonly end: (render: Render, tag: Tag, format: FormatContext) => void;
}

export const NO_END: Opened = { nodes: null, end: () => undefined };

export type SpecialTag = (
  render: Render,
  tag: Tag,
  props: Props,
  format: FormatContext,
  type: string,
) => Opened;

const hasOwn = Object.prototype.hasOwnProperty;

function close(render: Render, tag: Tag): void {
  render.out += tag.close;
}

export function opened(nodes: unknown): Opened {
  return { nodes, end: close };
}

/** Attributes by ordinary rules, and what stands apart from them. `special` takes a name for itself by returning true. */
export function attributesOf(props: Props, special: (name: string, value: unknown) => boolean): string {
  let html = '';
  for (const name in props) {
    if (!hasOwn.call(props, name)) continue;
    const value = props[name];
    if (value === null || value === undefined || special(name, value)) continue;
    html += attribute(name, value);
  }
  return html;
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

export function transitionOf(format: FormatContext): string {
  return format.transition === null ? '' : transitionAttributes(format.transition);
}

/** The end of a start tag with what stands in it, `first` before all: a string for children is written at once, without text rules. */
export function openWith(render: Render, html: string, content: Content, first = ''): Opened {
  const { children, inner } = content;
  render.out += `${html}>${first}${innerHtml(inner, children)}`;
  if (typeof children !== 'string') return opened(children ?? null);
  render.out += escapeText(children);
  return opened(null);
}

export function voidTag(html: string, tag: string, props: Props, format: FormatContext): string {
  const attributes = attributesOf(props, (name) => {
    if (name !== 'children' && name !== 'dangerouslySetInnerHTML') return false;
    throw new Error(
      `${tag} is a self-closing tag and must neither have \`children\` nor use \`dangerouslySetInnerHTML\`.`,
    );
  });
  return `${html}${attributes}${transitionOf(format)}/>`;
}

const selfClosing: SpecialTag = (render, tag, props, format, type) => {
  render.out += voidTag(tag.open, type, props, format);
  return NO_END;
};

const anchor: SpecialTag = (render, tag, props, format) => {
  const content: Content = { children: null, inner: null };
  let html = tag.open;
  for (const name in props) {
    if (!hasOwn.call(props, name)) continue;
    const value = props[name];
    if (value === null || value === undefined || takesContent(content, name, value)) continue;
    // An empty link leads to the page itself; elsewhere react-dom takes an empty URL for a mistake.
    html += name === 'href' && value === '' ? ' href=""' : attribute(name, value);
  }
  return openWith(render, html + transitionOf(format), content);
};

const menuItem: SpecialTag = (render, tag, props, format) => {
  const html = attributesOf(props, (name) => {
    if (name !== 'children' && name !== 'dangerouslySetInnerHTML') return false;
    throw new Error('menuitems cannot have `children` nor `dangerouslySetInnerHTML`.');
  });
  render.out += `${tag.open}${html}${transitionOf(format)}>`;
  return opened(null);
};

const objectTag: SpecialTag = (render, tag, props, format) => {
  const content: Content = { children: null, inner: null };
  let html = tag.open;
  for (const name in props) {
    if (!hasOwn.call(props, name)) continue;
    const value = props[name];
    if (value === null || value === undefined || takesContent(content, name, value)) continue;
    if (name !== 'data') html += attribute(name, value);
    else {
      const url = sanitizeUrl('' + (value as string));
      if (url !== '') html += ` data="${escapeText(url)}"`;
    }
  }
  return openWith(render, html + transitionOf(format), content);
};

/** `<pre>`: browsers drop a first line break, so one more is written. */
const preformatted: SpecialTag = (render, tag, props, format) => {
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
  return opened(children);
};

const custom: SpecialTag = (render, tag, props, format) => {
  const content: Content = { children: null, inner: null };
  let html = tag.open;
  for (const name in props) {
    if (!hasOwn.call(props, name)) continue;
    const value = props[name];
    if (value === null || value === undefined || takesContent(content, name, value)) continue;
    html += customAttribute(name, value);
  }
  render.out += `${html}${transitionOf(format)}>${innerHtml(content.inner, content.children)}`;
  return opened(content.children);
};

// The document ----------------------------------------------------------------------------------------------------

function documentTag(part: 'html' | 'head' | 'body', highestMode: number): SpecialTag {
  return (render, tag, props, format) => {
    const content: Content = { children: null, inner: null };
    const html = attributesOf(props, (name, value) => takesContent(content, name, value));
    const start = `${tag.open}${html}${transitionOf(format)}`;
    if (format.mode > highestMode) return openWith(render, start, content);
    const preamble: Preamble = render.preamble ?? render.resources.preamble;
    if (preamble[part] !== null) throw new Error(`The \`<${part}>\` tag may only be rendered once.`);
    if (render.preamble !== null) render.out += `<!--${part}-->`;
    const doctype = part === 'html' && render.mode === 'stream' ? '<!DOCTYPE html>' : '';
    preamble[part] = `${doctype}${start}>${innerHtml(content.inner, content.children)}`;
    return { nodes: content.children, end: END_OF[part] };
  };
}

const END_OF = {
  html: (render: Render) => {
    render.resources.hasHtml = true;
  },
  body: (render: Render) => {
    render.resources.hasBody = true;
  },
  head: () => undefined,
};

export const SPECIAL_TAGS = new Map<string, SpecialTag>([
  ['a', anchor],
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

/** Names with a dash that are ordinary tags of SVG and MathML. */
for (const tag of 'annotation-xml color-profile font-face font-face-src font-face-uri font-face-format font-face-name missing-glyph'.split(
  ' ',
)) {
  SPECIAL_TAGS.set(tag, (render, { open }, props, format) => {
    const content: Content = { children: null, inner: null };
    const html = attributesOf(props, (name, value) => takesContent(content, name, value));
    return openWith(render, open + html + transitionOf(format), content);
  });
}
