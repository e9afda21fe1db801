/**
 * Contents of a component's slots. They stay in the document while a framework takes over, replaces or removes the elements
 * around them, because the boxes in them have a life of their own.
 */
import type { SlotContents } from '../adapter.js';
import { attribute, isOwn } from './box.js';

const SLOT_TAG = 'sluice-slot';

export interface KeptSlots extends SlotContents {
  /** Puts all contents back to where the server had them. */
  restore(): void;
}

/** Box of a component that was mounted, as other scripts of the page may ask it. */
export interface WithSlots {
  /** Elements with the contents of its slots by name, which the component may hide. */
  sluiceSlots?: ReadonlyMap<string, Element>;
}

/** Boxes by the elements of their slots, which hold contents also while the component does not show them. */
const owners = new WeakMap<Element, Element>();

/** Whether a box is in the document, or in a slot that a component of the document may show again. */
export function isKept(box: Element): boolean {
  if (box.isConnected) return true;
  const slot = box.parentElement?.closest(SLOT_TAG);
  const owner = slot ? owners.get(slot) : undefined;
  return owner !== undefined && isKept(owner);
}

export function slotsOf(box: Element): KeptSlots {
  const first = new Map<string, Element>();
  for (const slot of box.querySelectorAll(SLOT_TAG)) {
    const name = attribute(slot, 'n');
    if (!isOwn(box, slot) || first.has(name)) continue;
    first.set(name, slot);
    owners.set(slot, box);
  }
  const holders = new Map(first);
  (box as WithSlots).sluiceSlots = holders;
  const move = (from: Element | undefined, to: Element): void => {
    if (from && from !== to) to.replaceChildren(...from.childNodes);
  };
  const named = attribute(box, 's').split(' ').filter(Boolean);
  return {
    names: [...new Set([...named, ...first.keys()])],
    adopt(name, element) {
      move(holders.get(name), element);
      holders.set(name, element);
      owners.set(element, box);
    },
    restore() {
      for (const [name, element] of first) move(holders.get(name), element);
    },
  };
}
