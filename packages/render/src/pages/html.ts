/**
 * The markup of boxes, which `@sluice/browser` reads: `docs/guide/browser.md`. Every text that comes from data or the tree is
 * escaped here; HTML of components and placeholders is theirs. It must not know how results came about.
 */
import { slotHtml, SLOT_TAG } from '../adapters/slot.js';
import { escapeHtml } from '../state/escape.js';
import { serialise } from '../state/serialise.js';
import { toError } from '../thrown.js';
import type { Result } from './results.js';
import type { Deferred } from './plan.js';
import { RemoteView } from '../remote/remote.js';

/** Texts around the content of slots: `text[0]`, content of `slots[0]`, `text[1]` and so on. */
export interface Markup {
  readonly texts: readonly string[];
  readonly slots: readonly string[];
}

const BOX_TAG = 'sluice-box';
const BOX_END = `</${BOX_TAG}>`;
const NONE: readonly string[] = [];
const SLOT_END = `</${SLOT_TAG}>`;

/** A box with the places where its slots' boxes go. `onError` is told of props that cannot be sent to the browser. */
export function boxMarkup(result: Result, onError: (error: Error) => void): Markup {
  const { box, text } = result;
  const state = stateOf(result, onError);
  // Without its props a component cannot be taken over.
  const start = startTag(result, state !== undefined);
  const inner = text ?? placeholderOf(result);
  if (box.slots.size === 0) return { texts: [`${start}${inner}${BOX_END}${state ?? ''}`], slots: NONE };
  const { texts, slots } = split(inner, [...box.slots.keys()], text === undefined);
  const parts = [...texts];
  parts[0] = start + (parts[0] ?? '');
  parts[parts.length - 1] += `${BOX_END}${state ?? ''}`;
  return { texts: parts, slots };
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

function startTag({ box, component, hole, hydration }: Result, hasState: boolean): string {
  const isForBrowser = hole !== undefined || (hydration !== undefined && hasState);
  const slots = isForBrowser && box.slots.size > 0 ? [...box.slots.keys()].join(' ') : undefined;
  return `<${BOX_TAG}${attribute('n', component?.name ?? box.node.component)}${attribute('v', component?.version)}${attribute('i', box.id)}${
    isForBrowser ? attribute('a', component?.adapter.name) + attribute('on', hydration) : ''
  }${attribute('s', slots)}${attribute('hole', hole)}>`;
}

function attribute(name: string, value: string | undefined): string {
  return value === undefined ? '' : ` ${name}="${escapeHtml(value)}"`;
}

/** The browser needs the props of boxes that it takes over, and of holes that it can fill. */
function stateOf(
  { box, component, props, hole, hydration, text }: Result,
  onError: (error: Error) => void,
): string | undefined {
  if (text === undefined ? hole === undefined : hydration === undefined) return undefined;
  if (component?.view instanceof RemoteView) return undefined;
  try {
    // Of a component that could not be loaded, or that there is not, nobody knows what its schema lets browsers see.
    const known = props?.known();
    if (known === undefined) return undefined;
    return `<script type="application/json" data-sluice="${escapeHtml(box.id)}">${serialise(known)}</script>`;
  } catch (error) {
    onError(toError(error));
    return undefined;
  }
}

/**
 * Cuts at the first place of each slot, so that no box is there twice. In a hole the boxes of slots follow the placeholder:
 * they are in the page whatever became of the component around them, and the browser finds them for it.
 */
function split(html: string, names: readonly string[], isHole: boolean): Markup {
  const places = names
    .map((name) => ({ name, marker: slotHtml(name), at: html.indexOf(slotHtml(name)) }))
    .sort((left, right) => left.at - right.at);
  const texts: string[] = [];
  const slots: string[] = [];
  let from = 0;
  for (const { name, marker, at } of places) {
    if (at === -1) continue;
    const inside = at + marker.length - SLOT_END.length;
    texts.push(html.slice(from, inside));
    slots.push(name);
    from = inside;
  }
  let rest = html.slice(from);
  for (const { name, marker, at } of places) {
    if (at !== -1 || !isHole) continue;
    texts.push(rest + marker.slice(0, -SLOT_END.length));
    slots.push(name);
    rest = SLOT_END;
  }
  return { texts: [...texts, rest], slots };
}
