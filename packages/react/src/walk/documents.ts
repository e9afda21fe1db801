/** `<html>`, `<head>` and `<body>`: the document's own are held back until it is known what belongs into them. */
import { addAttributes } from '../facts/attributes.js';
import { escapeText } from '../facts/escape.js';
import { DOCUMENT, ROOT, holdsHead, type FormatContext } from '../facts/format.js';
import { profile } from '../facts/profile.js';
import type { Render } from '../state/render.js';
import type { Preamble } from '../state/resources.js';
import {
  attributesOf,
  openWith,
  takesContent,
  transitionOf,
  type Content,
  type SpecialTag,
  type Tag,
} from './host-special.js';
import { innerHtml } from './script.js';

/** The boundary that they are in says by a number which they are, instead of each by its name. */
const numbersTags = profile.head === 'rendered-last';

export function documentTag(part: 'html' | 'head' | 'body', highestMode: number): SpecialTag {
  return (render, tag, props, format) => {
    const content: Content = { children: null, inner: null };
    if (format.mode > highestMode) {
      const html = attributesOf(props, (name, value) => takesContent(content, name, value));
      return openWith(render, tag.open + html + transitionOf(format), content);
    }
    render.notCacheable();
    const preamble: Preamble = render.preamble ?? render.resources.preamble;
    if (!holdsHead && (part === 'body' || preamble[part] !== null)) {
      const html = attributesOf(props, (name, value) => takesContent(content, name, value));
      return openWith(render, tag.open + html, content);
    }
    if (preamble[part] !== null) throw new Error(`The \`<${part}>\` tag may only be rendered once.`);
    if (render.preamble !== null && !numbersTags) render.out += `<!--${part}-->`;
    const to = { html: (part === 'html' && render.mode === 'stream' ? '<!DOCTYPE html>' : '') + tag.open };
    try {
      addAttributes(to, props, (name, value) => takesContent(content, name, value));
      to.html += transitionOf(format) + '>';
      to.html += innerHtml(content.inner, content.children);
      if (holdsHead || typeof content.children !== 'string') return content.children;
      to.html += escapeText(content.children);
      return null;
    } finally {
      preamble[part] = to.html;
    }
  };
}

/** The end of `<html>`, `<head>` and `<body>`: the document's own are ended when it is sent. */
export function endDocumentTag(render: Render, tag: Tag, format: FormatContext, type: string): void {
  const isOrdinary = format.mode > (type === 'html' ? ROOT : DOCUMENT);
  if (isOrdinary || (type === 'head' && !holdsHead)) render.out += tag.close;
  else if (type === 'html') render.resources.hasHtml = true;
  else if (type === 'body') render.resources.hasBody = true;
}
