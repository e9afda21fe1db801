/**
 * Swaps the boxes of a page for those of another. A box of the same id, component and props stays, with its elements and state; the runtime
 * hydrates those that come and ends those that leave. It must not know how.
 */
import type { WithSlots } from './slots.js';

// The runtime's modules have the same; imported, they would be a file that both wait for.
const BOX = 'sluice-box';
const SLOT_TAG = 'sluice-slot';
const attribute = (box: Element, name: string): string => box.getAttribute(name) ?? '';
const isOwn = (box: Element, element: Element): boolean => element.parentElement?.closest(BOX) === box;

/** Throws where the document has lost the place of its boxes. */
export function swapBoxes(place: Element | null, next: DocumentFragment): void {
  if (place === null) throw new Error('the document has lost the place of its boxes');
  swap(place, next);
}

function swap(place: Element, next: ParentNode): void {
  const known = new Map<string, Element>();
  for (const child of place.children) if (child.localName === BOX) known.set(attribute(child, 'i'), child);
  /** Boxes that stay, by those that came for them; and their props, which need not be put in. */
  const stay = new Map<Node, Element>();
  const spared = new Set<Node>();
  const kept = new Set<Node>();
  for (const child of next.children) {
    const old = known.get(attribute(child, 'i'));
    if (old === undefined || child.localName !== BOX || !isSame(old, child)) continue;
    stay.set(child, old);
    kept.add(old);
    const [before, after] = [stateOf(old), stateOf(child)];
    if (before !== null) kept.add(before);
    if (after !== null) spared.add(after);
  }
  for (const node of Array.from(place.childNodes)) if (!kept.has(node)) node.remove();
  let before = place.firstChild;
  for (const node of Array.from(next.childNodes)) {
    const old = stay.get(node);
    if (old === undefined) {
      if (!spared.has(node)) place.insertBefore(node, before);
      continue;
    }
    const state = stateOf(old);
    if (old === before) before = (state ?? old).nextSibling;
    else for (const each of state === null ? [old] : [old, state]) move(place, each, before);
    for (const [name, slot] of slotsIn(node as Element)) swap(placeIn(old, name) as Element, slot);
  }
}

/** Keeps frames and focus in browsers that can. */
function move(place: Element, node: Element, before: Node | null): void {
  if ('moveBefore' in place) place.moveBefore(node, before);
  else (place as Element).insertBefore(node, before);
}

/** Script with the props of a box, directly behind it. */
function stateOf(box: Element): Element | null {
  const next = box.nextElementSibling;
  return next?.getAttribute('data-sluice') === attribute(box, 'i') ? next : null;
}

const NAMES = ['n', 'v', 'a', 's'];
/** Marks that no longer matter once the component is there. */
const UNTIL_READY = ['on', 'hole'];

function isSame(old: Element, next: Element): boolean {
  const ready = old.getAttribute('ready');
  // Another try.
  if (ready === 'failed') return false;
  const marks = ready === null ? [...NAMES, ...UNTIL_READY] : NAMES;
  if (marks.some((name) => old.getAttribute(name) !== next.getAttribute(name))) return false;
  for (const [name] of slotsIn(next)) if (placeIn(old, name) === undefined) return false;
  const [before, after] = [stateOf(old), stateOf(next)];
  if (before !== null && after !== null) return before.textContent === after.textContent;
  // Nobody knows the props of a hole without them.
  return before === after && !next.hasAttribute('hole') && areAlike(old.childNodes, next.childNodes);
}

/** Whether two lists of nodes are equal but for the contents of slots, which are other boxes. */
function areAlike(old: NodeListOf<ChildNode>, next: NodeListOf<ChildNode>): boolean {
  return (
    old.length === next.length && [...old].every((node, index) => isAlike(node, next[index] as ChildNode))
  );
}

function isAlike(old: ChildNode, next: ChildNode): boolean {
  if (!old.cloneNode(false).isEqualNode(next.cloneNode(false))) return false;
  return old.nodeName.toLowerCase() === SLOT_TAG || areAlike(old.childNodes, next.childNodes);
}

/** The first slot of each name that is the box's own. */
function slotsIn(box: Element): ReadonlyMap<string, Element> {
  const slots = new Map<string, Element>();
  for (const slot of box.querySelectorAll(SLOT_TAG)) {
    const name = attribute(slot, 'n');
    if (isOwn(box, slot) && !slots.has(name)) slots.set(name, slot);
  }
  return slots;
}

/** Element with the contents of a slot, which its component may hide. */
function placeIn(box: Element, name: string): Element | undefined {
  return (box as WithSlots).sluiceSlots?.get(name) ?? slotsIn(box).get(name);
}
