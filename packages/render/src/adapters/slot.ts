/**
 * The element that stands for a slot in a component's HTML. Every adapter writes exactly this text, so that whoever puts a
 * page together finds the places by searching for it. Names are escaped: no data of a component can look like a slot.
 */
import { escapeAttribute } from '../state/escape.js';
import type { RenderContext, Slots } from './adapter.js';

export const SLOT_TAG = 'sluice-slot';

/** The content between tags is nobody's but the page's: hydration leaves it alone. */
export function slotHtml(name: string): string {
  return `<${SLOT_TAG} n="${escapeAttribute(name)}"></${SLOT_TAG}>`;
}

export function slotsOf(names: readonly string[]): Slots {
  return { names, html: slotHtml };
}

export const NO_SLOTS: Slots = slotsOf([]);

/** A context for a component that is rendered outside a page. */
export function contextOf(id: string, signal: AbortSignal, isStatic = false): RenderContext {
  return { id, slots: NO_SLOTS, signal, isStatic };
}
