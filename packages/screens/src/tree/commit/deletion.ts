/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Deletion: cleanups of a subtree that leaves the tree. */
import { classProps } from '../classes.js';
import { EFFECT_INSERTION, EFFECT_LAYOUT, EFFECT_PASSIVE } from '../hooks/cursor.js';
import {
  CLASS,
  FORWARD_REF,
  FUNCTION,
  GONE,
  NO_KIDS,
  OFFSCREEN,
  SIMPLE_MEMO,
  SUSPENSE,
  WIDGET,
  type Node,
} from '../node.js';
import type { BoundaryData } from '../suspense.js';
import { cleanUp, failed } from './effects.js';
import { detachRef } from './refs.js';

export function unmountClass(node: Node, above: Node | null): void {
  const { instance } = node;
  if (typeof instance.componentWillUnmount !== 'function') return;
  instance.props = classProps(node.component, node.props);
  instance.state = node.state;
  try {
    instance.componentWillUnmount();
  } catch (error) {
    failed(above, error);
  }
}

/** Runs what ends with the screen's change: cleanups but those of passive effects, refs, componentWillUnmount. */
export function deleteSubtree(node: Node, wasHidden: boolean, above: Node | null): void {
  node.flags |= GONE;
  let hidden = wasHidden;
  switch (node.kind) {
    case FUNCTION:
    case FORWARD_REF:
    case SIMPLE_MEMO:
      if (node.hooks !== null) {
        cleanUp(node, EFFECT_INSERTION, true, above);
        if (!hidden) cleanUp(node, EFFECT_LAYOUT, true, above);
      }
      break;
    case CLASS:
      if (!hidden) {
        detachRef(node, above);
        unmountClass(node, above);
      }
      break;
    case WIDGET:
      if (!hidden) detachRef(node, above);
      break;
    case OFFSCREEN:
      hidden = hidden || node.state === true;
      break;
    case SUSPENSE:
      (node.data as BoundaryData).node = null;
      break;
    default:
  }
  const { kids } = node;
  for (let i = 0; i < kids.length; i++) {
    const kid = kids[i]!;
    if (kid !== null) deleteSubtree(kid, hidden, above);
  }
}

/** Runs the cleanups of passive effects, and takes the nodes apart: a `setState` that the app keeps holds one node, not the tree. */
export function deletePassive(node: Node, above: Node | null): void {
  const { kind } = node;
  if ((kind === FUNCTION || kind === FORWARD_REF || kind === SIMPLE_MEMO) && node.hooks !== null)
    cleanUp(node, EFFECT_PASSIVE, true, above);
  const { kids } = node;
  for (let i = 0; i < kids.length; i++) {
    const kid = kids[i]!;
    if (kid !== null) deletePassive(kid, above);
  }
  node.parent = null;
  node.kids = NO_KIDS;
  node.hooks = null;
  node.props = null;
}
