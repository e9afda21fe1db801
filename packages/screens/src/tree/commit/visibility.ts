/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Visibility: layout effects and refs of a Suspense's children end when they are hidden, and begin again when they are shown. */
import type { ClassData } from '../classes.js';
import { EFFECT_LAYOUT } from '../hooks/cursor.js';
import { CLASS, FORWARD_REF, FUNCTION, OFFSCREEN, SIMPLE_MEMO, WIDGET, type Node } from '../node.js';
import { cleanUp, failed, runEffects } from './effects.js';
import { unmountClass } from './deletion.js';
import { attachRef, detachRef } from './refs.js';

export function disappear(parent: Node): void {
  const { kids } = parent;
  for (let i = 0; i < kids.length; i++) {
    const node = kids[i]!;
    if (node === null) continue;
    switch (node.kind) {
      case FUNCTION:
      case FORWARD_REF:
      case SIMPLE_MEMO:
        cleanUp(node, EFFECT_LAYOUT, true, node.parent);
        break;
      case CLASS:
        detachRef(node, node.parent);
        unmountClass(node, node.parent);
        break;
      case WIDGET:
        detachRef(node, node.parent);
        break;
      case OFFSCREEN:
        if (node.state === true) continue;
        break;
      default:
    }
    disappear(node);
  }
}

export function reappear(parent: Node): void {
  const { kids } = parent;
  for (let i = 0; i < kids.length; i++) {
    const node = kids[i]!;
    if (node === null) continue;
    if (node.kind === OFFSCREEN && node.state === true) continue;
    reappear(node);
    switch (node.kind) {
      case FUNCTION:
      case FORWARD_REF:
      case SIMPLE_MEMO:
        runEffects(node, EFFECT_LAYOUT, true);
        break;
      case CLASS:
        mountAgain(node);
        attachRef(node);
        break;
      case WIDGET:
        attachRef(node);
        break;
      default:
    }
  }
}

function mountAgain(node: Node): void {
  const { instance } = node;
  const data = node.data as ClassData;
  try {
    if (typeof instance.componentDidMount === 'function') instance.componentDidMount();
  } catch (error) {
    failed(node.parent, error);
  }
  const callbacks = [...(data.hiddenCallbacks ?? []), ...(data.callbacks ?? [])];
  data.hiddenCallbacks = null;
  data.callbacks = null;
  try {
    for (const callback of callbacks) callback.call(instance);
  } catch (error) {
    failed(node.parent, error);
  }
}
