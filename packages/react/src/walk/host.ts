/** Host elements: tags with their attributes. Ordinary tags are written here; those with rules of their own in `host-special.ts`. */
import { attribute } from '../facts/attributes.js';
import { escapeText } from '../facts/escape.js';
import { FORMATTING_TAGS, HEAD, childFormat, type FormatContext } from '../facts/format.js';
import { endDocumentTag } from './documents.js';
import { effectOf } from './hoisting.js';
import { NO_END, custom, transitionAttributes, type SpecialTag, type Tag } from './host-special.js';
import { SPECIAL_TAGS } from './special-tags.js';
import type { Props } from '../facts/react.js';
import { ALONE } from '../facts/tree-id.js';
import { renderNode } from './recursion.js';
import { innerHtml } from './script.js';
import { addTask, finishSegment, spill, switchSegment } from '../state/segments.js';
import { profile } from '../facts/profile.js';
import { Segment, Task, type Render } from '../state/render.js';

const hoists = profile.head !== 'in-place';
const rendersHeadLast = profile.head === 'rendered-last';
const customizesByIs = profile.customElements === 'by-is';

const VALID_TAG = /^[a-zA-Z][a-zA-Z:_.\-\d]*$/;
const REMEMBERED_MAX = 1024;
const tags = new Map<string, Tag>();

function specialTagOf(type: string): SpecialTag | undefined {
  return SPECIAL_TAGS.get(type) ?? (type.includes('-') ? SPECIAL_TAGS.get('-') : undefined);
}

export function tagOf(type: string): Tag {
  const known = tags.get(type);
  if (known !== undefined) return known;
  if (!VALID_TAG.test(type)) throw new Error(`Invalid tag: ${type}`);
  const tag: Tag = {
    open: `<${type}`,
    whole: `<${type}>`,
    close: `</${type}>`,
    special: specialTagOf(type),
    formats: FORMATTING_TAGS.has(type),
    isAnchor: type === 'a',
    isDocument: hoists && (type === 'html' || type === 'head' || type === 'body'),
  };
  if (tags.size >= REMEMBERED_MAX) tags.clear();
  tags.set(type, tag);
  return tag;
}

const hasOwn = Object.prototype.hasOwnProperty;

export function renderHost(render: Render, type: string, props: Props): void {
  render.chained = false;
  const tag = tags.get(type) ?? tagOf(type);
  if (tag.special !== undefined) return renderSpecialHost(render, tag, type, props, tag.special);
  let attributes = '';
  let children: unknown = null;
  let inner: unknown = null;
  for (const name in props) {
    if (!hasOwn.call(props, name)) continue;
    const value = props[name];
    if (value === null || value === undefined) continue;
    if (name === 'children') children = value;
    else if (name === 'dangerouslySetInnerHTML') inner = value;
    else if (value === '' && tag.isAnchor && name === 'href') {
      // An empty link leads to the page itself; elsewhere react-dom takes an empty URL for a mistake.
      attributes += ' href=""';
    } else if (customizesByIs && name === 'is' && typeof value === 'string') {
      return renderSpecialHost(render, tag, type, props, custom);
    } else attributes += attribute(name, value);
  }
  const { format } = render;
  if (format.transition !== null) attributes += transitionAttributes(format.transition);
  let html = attributes === '' ? tag.whole : tag.open + attributes + '>';
  if (inner !== null) html += innerHtml(inner, children);
  if (typeof children === 'string') {
    render.out += html + escapeText(children) + tag.close;
    render.lastText = false;
    if (rendersHeadLast && !format.plain) addHeadTask(render, type, props);
  } else {
    render.out += html;
    renderHostChildren(render, tag, type, props, children);
    render.out += tag.close;
    render.lastText = false;
  }
  if (render.out.length > render.spillLength) spill(render);
  return undefined;
}

function renderHostChildren(render: Render, tag: Tag, type: string, props: Props, children: unknown): void {
  render.lastText = false;
  const { format } = render;
  if (format.plain && !tag.formats) return renderNode(render, children, ALONE);
  const inside = childFormat(format, type, props);
  render.format = inside;
  if (inside.mode === HEAD) renderIntoHead(render, inside, children);
  else renderNode(render, children, ALONE);
  render.format = format;
  return undefined;
}

function renderSpecialHost(render: Render, tag: Tag, type: string, props: Props, special: SpecialTag): void {
  const { format } = render;
  if (hoists && render.recording !== null) {
    const effect = effectOf(type, tag, props, format);
    if (effect !== null) render.recording.effects.push(effect);
  }
  const children = special(render, tag, props, format, type);
  if (children !== NO_END) {
    renderHostChildren(render, tag, type, props, children);
    if (tag.isDocument) endDocumentTag(render, tag, format, type);
    else render.out += tag.close;
  } else if (rendersHeadLast && !format.plain) addHeadTask(render, type, props);
  render.lastText = false;
  if (render.out.length > render.spillLength) spill(render);
}

/** Children of the document's head are held back: what the page hoists comes before them. */
function renderIntoHead(render: Render, format: FormatContext, children: unknown): void {
  const around = render.segment;
  const segment = new Segment(null, format, false, false);
  (around.preambleChildren ??= []).push(segment);
  if (rendersHeadLast) return renderIntoHeadLater(render, segment, children);
  switchSegment(render, segment);
  try {
    renderNode(render, children, ALONE);
    finishSegment(render, render.boundary);
  } finally {
    switchSegment(render, around);
  }
}

/** Renders the head when the rest of the page has been rendered, in 19.1. */
function renderIntoHeadLater(render: Render, segment: Segment, children: unknown): void {
  render.notCacheable();
  const { depth } = render;
  const task = new Task(render, children, ALONE, segment, render.keyPathAt(depth), render.stackAt(depth));
  task.abortSet = render.abortableTasks;
  render.pingedTasks.push(addTask(render, task));
}

/** Adds a task to the head for a tag without children to come, in 19.1; the shell waits for the last of them. */
function addHeadTask(render: Render, type: string, props: Props): void {
  const inside = childFormat(render.format, type, props);
  if (inside.mode === HEAD) renderIntoHead(render, inside, null);
}
