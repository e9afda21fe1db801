/**
 * The element that stands for a slot in a component's HTML. Every adapter writes exactly this text, so that the writer of
 * a page finds the places by searching for it. It has nothing that frameworks escape in ways of their own.
 */
import type { RenderContext, Slots } from './adapter.js';

export const SLOT_TAG = 'sluice-slot';

const NAME = /^[a-z][\w-]*$/i;

/** Slots are properties of components, so their names are such. */
export function isSlotName(name: string): boolean {
  return NAME.test(name);
}

/** The content between tags is nobody's but the page's: hydration leaves it alone. Throws for what is no name. */
export function slotHtml(name: string): string {
  if (!isSlotName(name)) throw new TypeError(`"${name}" is not a name of a slot: letters, digits, - and _`);
  return `<${SLOT_TAG} n="${name}"></${SLOT_TAG}>`;
}

export function slotsOf(names: readonly string[]): Slots {
  return { names, html: slotHtml };
}

export const NO_SLOTS: Slots = slotsOf([]);

/** A context for a component that is rendered outside a page. */
export function contextOf(id: string, signal: AbortSignal, isStatic = false): RenderContext {
  return { id, slots: NO_SLOTS, signal, isStatic };
}
