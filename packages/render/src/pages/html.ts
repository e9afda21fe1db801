/**
 * The markup of boxes, which `@sluice/browser` reads: `docs/guide/browser.md`. Every text that comes from data or the tree is
 * escaped here; HTML of components and placeholders is theirs. It must not know how results came about.
 */
import { slotHtml, SLOT_TAG } from '../adapters/slot.js';
import { attribute, BOX_END, BOX_TAG, STATE_END, stateStart } from '../boxes/markup.js';
import type { Component, Hydration } from '../component.js';
import { escapeHtml } from '../state/escape.js';
import { toError } from '../thrown.js';
import type { Result } from './results.js';
import type { Deferred, Item } from './plan.js';
import { RemoteView } from '../remote/remote.js';
import type { Html } from '../tasks/placed-html.js';

/** A text, or the boxes of a slot. Long texts are parts of their own: one that is put together is copied. */
export type Part = Html | { readonly items: readonly Item[] };

const SLOT_END = `</${SLOT_TAG}>`;

/** Takes HTML in its order. */
export interface HtmlSink {
  write(html: Html): void;
}

/**
 * Writes a box without slots, or returns the parts of one with slots. The result gives its HTML and props away. `onError` is told of props that
 * cannot be sent to the browser.
 */
export function writeBox(
  result: Result,
  out: HtmlSink,
  onError: (error: Error, result: Result) => void,
): readonly Part[] | undefined {
  const { box, text } = result;
  const state = stateOf(result, onError);
  const id = escapeHtml(box.id);
  // Without its props a component cannot be taken over.
  const start = startTag(result, id, state !== undefined);
  const inner = text ?? placeholderOf(result);
  result.text = result.props = undefined;
  if (box.slots.size > 0) {
    const parts: Part[] = [start];
    split(String(inner), box.slots, text === undefined, parts);
    parts.push(state === undefined ? BOX_END : `${BOX_END}${stateStart(box.id)}${state}${STATE_END}`);
    return parts;
  }
  out.write(start);
  out.write(inner);
  if (state === undefined) {
    out.write(BOX_END);
    return undefined;
  }
  out.write(BOX_END + stateStart(box.id));
  out.write(state);
  out.write(STATE_END);
  return undefined;
}

/** A place for HTML that comes later in the same document. */
export function pendingMarkup({ id, node }: Pick<Deferred, 'id' | 'node'>, placeholder: string): string {
  return `<${BOX_TAG} n="${escapeHtml(node.component)}" i="${escapeHtml(id)}" hole="pending">${placeholder}</${BOX_TAG}>`;
}

export function fillStart(id: string): string {
  return `<template data-sluice-fill="${escapeHtml(id)}">`;
}

export const FILL_END = '</template>';

/** The setting's text, or what its function makes of the props. A placeholder that throws, or gives no text, is none. */
export function placeholderOf({ component, props }: Pick<Result, 'component' | 'props'>): string {
  const placeholder = component?.settings.placeholder;
  if (typeof placeholder !== 'function') return placeholder ?? '';
  try {
    const html: unknown = placeholder(props?.known() ?? {});
    return typeof html === 'string' ? html : '';
  } catch {
    return '';
  }
}

/** The parts of start tags that are the same for all boxes of a component. */
interface Tag {
  /** HTML before the id. */
  readonly start: string;
  /** HTML after the id, of boxes that are taken over, by the time of that: of those times that no tree makes up. */
  readonly ends: Map<Hydration, string>;
}

/** Times that are words. A media query is any text, which may come from a client's tree. */
const HYDRATIONS: ReadonlySet<Hydration> = new Set<Hydration>(['load', 'idle', 'visible', 'interaction']);
const tags = new WeakMap<Component, Tag>();

/** Keeps the tag as long as the component. */
export function tagOf(component: Component): Tag {
  let tag = tags.get(component);
  if (tag === undefined) {
    const start = `<${BOX_TAG}${attribute('n', component.name)}${attribute('v', component.version)} i="`;
    tag = { start, ends: new Map() };
    tags.set(component, tag);
  }
  return tag;
}

function startTag({ box, component, hole, hydration }: Result, id: string, hasState: boolean): string {
  const isForBrowser = hole !== undefined || (hydration !== undefined && hasState);
  const tag = component && tagOf(component);
  const start = tag?.start ?? `<${BOX_TAG}${attribute('n', box.node.component)} i="`;
  if (!isForBrowser) return `${start}${id}">`;
  if (tag === undefined || hole !== undefined || hydration === undefined || box.slots.size > 0) {
    const slots = box.slots.size > 0 ? [...box.slots.keys()].join(' ') : undefined;
    return `${start}${id}"${takenOver(component, hydration)}${attribute('s', slots)}${attribute('hole', hole)}>`;
  }
  let end = tag.ends.get(hydration);
  if (end === undefined) {
    end = `"${takenOver(component, hydration)}>`;
    if (HYDRATIONS.has(hydration) || hydration === component?.settings.hydration)
      tag.ends.set(hydration, end);
  }
  return start + id + end;
}

function takenOver(component: Component | undefined, hydration: Hydration | undefined): string {
  return attribute('a', component?.adapter.name) + attribute('on', hydration);
}

/** The props of boxes that the browser takes over, and of holes that it can fill, as text. */
function stateOf(result: Result, onError: (error: Error, result: Result) => void): string | undefined {
  const { component, props, hole, hydration, text } = result;
  if (text === undefined ? hole === undefined : hydration === undefined) return undefined;
  if (component?.view instanceof RemoteView) return undefined;
  try {
    // Of a component that could not be loaded, or that there is not, nobody knows what its schema lets browsers see.
    return props?.text();
  } catch (error) {
    onError(toError(error), result);
    return undefined;
  }
}

/**
 * Cuts at the first place of each slot, so that no box is there twice. In a hole the boxes of slots follow the placeholder:
 * they are in the page whatever became of the component around them, and the browser finds them for it.
 */
function split(
  html: string,
  slots: ReadonlyMap<string, readonly Item[]>,
  isHole: boolean,
  parts: Part[],
): void {
  const places = [...slots]
    .map(([name, items]) => ({ items, marker: slotHtml(name), at: html.indexOf(slotHtml(name)) }))
    .sort((left, right) => left.at - right.at);
  let from = 0;
  for (const { items, marker, at } of places) {
    if (at === -1) continue;
    const inside = at + marker.length - SLOT_END.length;
    parts.push(html.slice(from, inside), { items });
    from = inside;
  }
  parts.push(html.slice(from));
  for (const { items, marker, at } of places) {
    if (at !== -1 || !isHole) continue;
    parts.push(marker.slice(0, -SLOT_END.length), { items }, SLOT_END);
  }
}
