// Window of a list: which items have a slot, and where the list has scrolled to. Pure functions of what was before.
import type { Offsets } from './offsets.js';

export interface Frame {
  readonly offsets: Offsets;
  readonly count: number;
  /** Pixels of the list along its direction. */
  readonly length: number;
  /** Screens' worth of items that are alive at most. */
  readonly screens: number;
  /** Place of the item with the focus. */
  readonly align: 'nearest' | 'start' | 'center';
}

export interface Window {
  /** Item that has, or gets, the focus. */
  readonly index: number;
  /** Pixels that the list has scrolled. */
  readonly scroll: number;
  /** Item of each slot, -1 for none. */
  readonly slots: readonly number[];
  /** Lean of the window, from 1 forward to -1 back: into the direction of repeated keys. */
  readonly lean: number;
}

export const START: Window = { index: 0, scroll: 0, slots: [], lean: 0 };

/** Lean that each key adds. */
const LEAN = 0.25;

/** Window after the focus has moved to an item. */
export function moved(window: Window, to: number, frame: Frame): Window {
  const step = Math.sign(to - window.index) * LEAN;
  const lean = Math.min(Math.max(step * window.lean < 0 ? 0 : window.lean + step, -1), 1);
  return fitted({ ...window, index: to, lean }, frame);
}

/** The window with what the frame needs; the same one if nothing is missing. */
export function fitted(window: Window, frame: Frame): Window {
  const { count, length } = frame;
  if (count === 0) return window.slots.length === 0 && window.index === 0 ? window : START;
  const index = Math.min(Math.max(window.index, 0), count - 1);
  const scroll = scrolled(window.scroll, index, frame);
  const slots =
    length > 0 ? assigned(window.slots, needed(scroll, window.lean, index, frame), count) : window.slots;
  if (index === window.index && scroll === window.scroll && slots === window.slots) return window;
  return { index, scroll, slots, lean: window.lean };
}

function scrolled(scroll: number, index: number, { offsets, length, align }: Frame): number {
  const start = offsets.start(index);
  const end = offsets.start(index + 1);
  let wanted = scroll;
  if (align === 'start') wanted = start;
  else if (align === 'center') wanted = (start + end - length) / 2;
  else if (start < scroll || end - start > length) wanted = start;
  else if (end > scroll + length) wanted = end - length;
  const most = offsets.endBefore(wanted + length) - length;
  return Math.max(Math.min(wanted, most), 0);
}

/** Items that are to have a slot: those on the screen, and as many around as the limit leaves. */
function needed(
  scroll: number,
  lean: number,
  index: number,
  { offsets, count, length, screens }: Frame,
): [first: number, end: number] {
  const around = ((Math.max(screens, 1) - 1) * length) / 2;
  // The limit counts whole items, and two may be cut by the edges.
  const margin = Math.max(around - offsets.size(index), 0);
  const shift = (lean * margin) / 2;
  const first = offsets.at(Math.max(scroll - margin + shift, 0));
  const last = offsets.at(scroll + length + margin + shift - 1);
  return [Math.max(Math.min(first, index), 0), Math.min(Math.max(last, index) + 1, count)];
}

/** Slots with the items from `first` to `end`: those that have one keep it, others take over slots of items that need none. */
function assigned(
  slots: readonly number[],
  [first, end]: readonly [number, number],
  count: number,
): readonly number[] {
  const has = new Uint8Array(end - first);
  const free: number[] = [];
  let isStale = false;
  for (const [slot, item] of slots.entries()) {
    if (item >= first && item < end) has[item - first] = 1;
    else {
      free.push(slot);
      isStale ||= item >= count;
    }
  }
  if (!isStale && has.every((mark) => mark === 1)) return slots;
  const next = slots.slice();
  for (let item = first; item < end; item += 1) {
    if (has[item - first] === 1) continue;
    const slot = free.pop();
    if (slot === undefined) next.push(item);
    else next[slot] = item;
  }
  // What is left shows an item out of sight, or none if that is gone.
  for (const slot of free) if ((next[slot] as number) >= count) next[slot] = -1;
  return next;
}
