/**
 * Compiled JSX: pieces of HTML made at build time, and values for the holes between them. The text before and behind a hole, its place in
 * the tree of ids and of keys, and where in the document it is are known from the template.
 */
import { writeAttribute, type Attribute } from '../facts/attributes.js';
import { escapeText, toText } from '../facts/escape.js';
import { HEAD, childFormat, type FormatContext } from '../facts/format.js';
import { ALONE } from '../facts/tree-id.js';
import { renderNode, renderUnmade } from './recursion.js';
import { HolePlan } from '../state/hole-plan.js';
import { spill } from '../state/segments.js';
import {
  AFTER_TAG,
  AFTER_TEXT,
  ATTRIBUTE,
  CHILD,
  COMPONENT,
  type PathStep,
  type Template,
  type TemplateElement,
} from '../facts/template.js';
import { profile } from '../facts/profile.js';
import type { Props } from '../facts/react.js';
import type { Render } from '../state/render.js';

class Plan {
  readonly pieces: readonly string[];
  readonly markupPieces: readonly string[];
  readonly holes: readonly HolePlan[];
  /** The formats of the holes for the format in which the template was last written: mostly the same again. */
  around: FormatContext | null = null;
  formats: readonly FormatContext[] = [];

  constructor(template: Template) {
    this.pieces = template.pieces;
    // Comments cannot come from anywhere else: text and attributes are escaped.
    this.markupPieces = template.pieces.map((piece) => piece.replaceAll('<!-- -->', ''));
    this.holes = template.holes.map((hole) => new HolePlan(hole));
  }

  formatOf(at: number, around: FormatContext): FormatContext {
    if (this.around !== around) {
      this.around = around;
      this.formats = this.holes.map(({ steps }) =>
        steps.reduce((format, [tag]) => (tag === null ? format : childFormat(format, tag, {})), around),
      );
    }
    return this.formats[at] as FormatContext;
  }
}

/** Whether the template can be written here; otherwise its ordinary element is. */
export function isWritable(render: Render, template: Template): boolean {
  const { mode, transition } = render.format;
  return template.layout === 1 && transition === null && mode !== HEAD;
}

export function renderTemplate(render: Render, element: TemplateElement): void {
  const template = element.$$template;
  const values = element.$$values;
  const plan = (template.plan ??= new Plan(template)) as Plan;
  const { holes } = plan;
  const pieces = render.markup ? plan.markupPieces : plan.pieces;
  render.chained = false;
  render.lastText = false;
  let html = pieces[0] as string;
  for (let at = 0; at < holes.length; at += 1) {
    const hole = holes[at] as HolePlan;
    const value = values[at];
    if (hole.kind === ATTRIBUTE) {
      if (value !== null && value !== undefined) html += attributeHole(render, hole, template, at, value);
    } else if (hole.kind === CHILD) {
      if (hole.before !== 2) render.lastText = hole.before === AFTER_TEXT;
      if (typeof value === 'string' || typeof value === 'number') html += textHole(render, value);
      else if (typeof value === 'object' && value !== null) {
        render.out += html;
        html = '';
        renderHole(render, plan, hole, at, value);
      } else if (typeof value === 'bigint' && profile.nodes === 'usables') html += textHole(render, value);
      if (hole.followed && render.lastText && !render.markup) html += '<!-- -->';
    } else if (hole.kind === COMPONENT) {
      if (hole.before !== 2) render.lastText = hole.before === AFTER_TEXT;
      render.out += html;
      html = '';
      // The next value are its props.
      at += 1;
      renderComponentHole(render, element, plan, at - 1);
      if (hole.followed && render.lastText && !render.markup) html = '<!-- -->';
    }
    html += pieces[at + 1] as string;
  }
  render.out += html;
  render.lastText = false;
  if (render.out.length > render.spillLength) spill(render);
}

function attributeHole(
  render: Render,
  hole: HolePlan,
  template: Template,
  at: number,
  value: unknown,
): string {
  if (hole.isAnchorHref && value === '') return ' href=""';
  try {
    return writeAttribute(hole.attribute as Attribute, value);
  } catch (error) {
    // Values have methods that throw; the error is reported with the element in which that was.
    const steps = openTags(template, at).map((tag): PathStep => [tag, null, 1, 0]);
    render.nodes[render.depth] = new HolePlan([CHILD, AFTER_TAG, 0, steps]);
    render.indexes[render.depth] = ALONE;
    render.depth += 1;
    throw error;
  }
}

/** Around hole `at`, the root first; an attribute's own element is the last. What is no tag is escaped in pieces. */
function openTags({ pieces }: Template, at: number): string[] {
  const open: string[] = [];
  const before = pieces.slice(0, at + 1).join('');
  for (const [, tag] of before.matchAll(/<\/|\/>|<([a-z][^\s/>]*)/gi)) {
    if (tag === undefined) open.pop();
    else open.push(tag);
  }
  return open;
}

function textHole(render: Render, value: string | number | bigint): string {
  const text = typeof value === 'string' ? escapeText(value) : toText(value);
  if (render.markup || text === '') return text;
  const html = render.lastText ? '<!-- -->' + text : text;
  render.lastText = true;
  return html;
}

function renderHole(render: Render, plan: Plan, hole: HolePlan, at: number, value: object): void {
  const { depth, forks, format } = render;
  enterHole(render, plan, hole, at);
  renderNode(render, value, hole.index);
  render.format = format;
  render.forks = forks;
  render.depth = depth;
}

function renderComponentHole(render: Render, element: TemplateElement, plan: Plan, at: number): void {
  const { depth, forks, format } = render;
  const hole = plan.holes[at] as HolePlan;
  const type = element.$$values[at];
  enterHole(render, plan, hole, at);
  // Whether JSX fills defaults in depends on the version of React, and in 19 on the function that JSX has become.
  if ((type as { defaultProps?: unknown } | null | undefined)?.defaultProps)
    renderNode(render, ordinaryAt(element, hole), hole.index);
  else renderUnmade(render, hole.placeOf(type), element.$$values[at + 1] as Props, hole.index);
  render.format = format;
  render.forks = forks;
  render.depth = depth;
}

/** Returns the element in the hole as the app's own JSX has made it. */
function ordinaryAt(element: TemplateElement, { steps }: HolePlan): unknown {
  let node: unknown = element;
  for (const [, , length, index] of steps) {
    const { children } = (node as TemplateElement).props as { readonly children: unknown };
    node = length > 1 ? (children as readonly unknown[])[index] : children;
  }
  return node;
}

function enterHole(render: Render, plan: Plan, hole: HolePlan, at: number): void {
  const { depth, forks, format } = render;
  render.nodes[depth] = hole;
  render.indexes[depth] = ALONE;
  render.depth = depth + 1;
  const { forkLengths, forkIndexes } = hole;
  for (let fork = 0; fork < forkLengths.length; fork += 1) {
    render.forkLengths[forks + fork] = forkLengths[fork] as number;
    render.forkIndexes[forks + fork] = forkIndexes[fork] as number;
  }
  render.forks = forks + forkLengths.length;
  if (hole.formats || !format.plain) render.format = plan.formatOf(at, format);
}
