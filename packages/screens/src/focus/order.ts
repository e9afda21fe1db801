// Stops in the order of the tree. An area below is one stop for the area above it, as long as something in it can have the focus.
import { type FocusNode, isClosed, isStop } from './node.js';

/**
 * First (or last) stop among the widget and what is below it: a widget or an area; null if there is none. Closed ones are passed over, and so is what
 * is below a widget that can have the focus itself and is no area.
 */
export function edge(node: FocusNode, isLast: boolean): FocusNode | null {
  if (isClosed(node)) return null;
  const isOwn = isStop(node.props);
  if (node.props.focusArea === undefined) return isOwn ? node : edgeBelow(node, isLast);
  return isOwn || edgeBelow(node, isLast) !== null ? node : null;
}

/** The same without the widget itself. */
export function edgeBelow(node: FocusNode, isLast: boolean): FocusNode | null {
  const { children } = node;
  for (let index = 0; index < children.length; index += 1) {
    const child = children[isLast ? children.length - 1 - index : index] as FocusNode;
    const found = edge(child, isLast);
    if (found !== null) return found;
  }
  return null;
}

/** Next (or previous) stop after one of an area, null at its end. */
export function neighbour(stop: FocusNode, area: FocusNode, isBack: boolean): FocusNode | null {
  for (let node = stop; node !== area;) {
    const { parent } = node;
    if (parent === null) return null;
    const { children } = parent;
    const step = isBack ? -1 : 1;
    for (let index = children.indexOf(node) + step; index >= 0 && index < children.length; index += step) {
      const found = edge(children[index] as FocusNode, isBack);
      if (found !== null) return found;
    }
    node = parent;
  }
  return null;
}

/** All stops of an area. */
export function stopsOf(area: FocusNode, stops: FocusNode[] = []): FocusNode[] {
  for (const child of area.children) {
    if (isClosed(child)) continue;
    if (isStop(child.props)) stops.push(child);
    else if (child.props.focusArea === undefined) stopsOf(child, stops);
    else if (edgeBelow(child, false) !== null) stops.push(child);
  }
  return stops;
}

/** Nearest stop to a place among children: the one that has taken it, then by turns one before and one after. */
export function around(parent: FocusNode, place: number): FocusNode | null {
  const { children } = parent;
  for (let distance = 0; distance <= children.length; distance += 1) {
    const after = children[place + distance];
    const found = after && edge(after, false);
    if (found) return found;
    const before = children[place - 1 - distance];
    const other = before && edge(before, true);
    if (other) return other;
  }
  return null;
}
