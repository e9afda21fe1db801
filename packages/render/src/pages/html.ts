/**
 * The markup of boxes, which `@sluice/browser` reads: `docs/guide/browser.md`. Every text that comes from data or the tree is
 * escaped here; HTML of components and placeholders is theirs. It must not know how results came about.
 */
import { slotHtml, SLOT_TAG } from '../adapters/slot.js';
import { attribute, BOX_END, BOX_TAG, STATE_END, stateStart } from '../boxes/markup.js';
import type { Component } from '../component.js';
import { escapeHtml } from '../state/escape.js';
import { toError } from '../thrown.js';
import type { Result } from './results.js';
import type { Deferred } from './plan.js';
import { RemoteView } from '../remote/remote.js';
import { PlacedHtml, type Html } from '../tasks/placed-html.js';

/** A text, or the place where the boxes of a slot go. Long texts are parts of their own: one that is put together is copied. */
export type Part = Html | { readonly slot: string };

export function isHtml(part: Part): part is Html {
  return typeof part === 'string' || part instanceof PlacedHtml;
}

const SLOT_END = `</${SLOT_TAG}>`;

/** A box with the places where its slots' boxes go. `onError` is told of props that cannot be sent to the browser. */
export function boxMarkup(result: Result, onError: (error: Error) => void): readonly Part[] {
  const { box, text } = result;
  const state = stateOf(result, onError);
  // Without its props a component cannot be taken over.
  const start = startTag(result, state !== undefined);
  const inner = text ?? placeholderOf(result);
  const parts: Part[] = [start];
  if (box.slots.size === 0) parts.push(inner);
  else split(String(inner), [...box.slots.keys()], text === undefined, parts);
  if (state === undefined) parts.push(BOX_END);
  else parts.push(BOX_END + stateStart(box.id), state, STATE_END);
  return parts;
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

const namedTags = new WeakMap<Component, string>();

/** The part of start tags that is the same for all boxes of a component. */
function namedTag(component: Component): string {
  let tag = namedTags.get(component);
  if (tag === undefined) {
    tag = `<${BOX_TAG}${attribute('n', component.name)}${attribute('v', component.version)}`;
    namedTags.set(component, tag);
  }
  return tag;
}

function startTag({ box, component, hole, hydration }: Result, hasState: boolean): string {
  const isForBrowser = hole !== undefined || (hydration !== undefined && hasState);
  const slots = isForBrowser && box.slots.size > 0 ? [...box.slots.keys()].join(' ') : undefined;
  const tag =
    component === undefined ? `<${BOX_TAG}${attribute('n', box.node.component)}` : namedTag(component);
  return `${tag}${attribute('i', box.id)}${
    isForBrowser ? attribute('a', component?.adapter.name) + attribute('on', hydration) : ''
  }${attribute('s', slots)}${attribute('hole', hole)}>`;
}

/** The props of boxes that the browser takes over, and of holes that it can fill, as text. */
function stateOf(
  { component, props, hole, hydration, text }: Result,
  onError: (error: Error) => void,
): string | undefined {
  if (text === undefined ? hole === undefined : hydration === undefined) return undefined;
  if (component?.view instanceof RemoteView) return undefined;
  try {
    // Of a component that could not be loaded, or that there is not, nobody knows what its schema lets browsers see.
    return props?.text();
  } catch (error) {
    onError(toError(error));
    return undefined;
  }
}

/**
 * Cuts at the first place of each slot, so that no box is there twice. In a hole the boxes of slots follow the placeholder:
 * they are in the page whatever became of the component around them, and the browser finds them for it.
 */
function split(html: string, names: readonly string[], isHole: boolean, parts: Part[]): void {
  const places = names
    .map((name) => ({ name, marker: slotHtml(name), at: html.indexOf(slotHtml(name)) }))
    .sort((left, right) => left.at - right.at);
  let from = 0;
  for (const { name, marker, at } of places) {
    if (at === -1) continue;
    const inside = at + marker.length - SLOT_END.length;
    parts.push(html.slice(from, inside), { slot: name });
    from = inside;
  }
  parts.push(html.slice(from));
  for (const { name, marker, at } of places) {
    if (at !== -1 || !isHole) continue;
    parts.push(marker.slice(0, -SLOT_END.length), { slot: name }, SLOT_END);
  }
}
