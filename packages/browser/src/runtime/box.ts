/**
 * Reads a component's marks in the document: `<sluice-box n="Name" v="2.0.0" i="b3" a="react" on="visible" hole="late">`, and
 * its props in `<script type="application/json" data-sluice="b3">`. It must not know when or how a box is hydrated.
 */

/**
 * Boxes that the browser has something to do for, and has not done it. For holes of remote components it has no code.
 * `early.ts` has the same text.
 */
export const WAITING = 'sluice-box:is([on],[hole]):not([ready],[hole=remote])';
export const BOX = 'sluice-box';

/** Value of `hole` of a box whose HTML comes later in the same document. */
const PENDING = 'pending';

export const attribute = (box: Element, name: string): string => box.getAttribute(name) ?? '';

/** The name of the component's code: with its version, or the arm of an experiment, if it has one. */
export function codeOf(box: Element): string {
  const version = attribute(box, 'v');
  return attribute(box, 'n') + (version && `@${version}`);
}

export const isHole = (box: Element): boolean => box.hasAttribute('hole');

export function scriptOf(id: string): HTMLScriptElement | null {
  return document.querySelector(`script[data-sluice="${CSS.escape(id)}"]`);
}

/** Whether all of a box has arrived, its props included. While a document is parsed, something has to follow them. */
export function isWhole(box: Element): boolean {
  if (document.readyState !== 'loading') return true;
  return attribute(box, 'hole') !== PENDING && isFollowed(box, attribute(box, 'i'));
}

/** Whether the parser is past an element and, if its box's script comes next, past that. */
export function isFollowed(element: Element, id: string): boolean {
  const next = element.nextElementSibling;
  if (next?.getAttribute('data-sluice') === id) return isPast(next);
  return next !== null || (element.parentNode !== null && isPast(element.parentNode));
}

function isPast(node: Node): boolean {
  for (let at: Node | null = node; at !== null; at = at.parentNode) if (at.nextSibling !== null) return true;
  return false;
}

/** Boxes around a node that wait to be hydrated, from the outermost inwards. */
export function waitingAround(node: Element): HTMLElement[] {
  const boxes: HTMLElement[] = [];
  for (
    let at = node.closest<HTMLElement>(WAITING);
    at;
    at = at.parentElement?.closest<HTMLElement>(WAITING) ?? null
  )
    boxes.unshift(at);
  return boxes;
}

/** Whether an element is the box's own and not that of a box within it. */
export const isOwn = (box: Element, element: Element): boolean => element.parentElement?.closest(BOX) === box;
