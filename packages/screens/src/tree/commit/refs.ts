/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Refs: set and cleared as their nodes come and go. */
import type { WidgetNode } from '../../widget/node.js';
import { ROOT, WIDGET, type Node } from '../node.js';
import type { Root } from '../root.js';
import { REF_IS_PROP } from '../react.js';
import { failed } from './effects.js';

function publicInstance(node: Node): unknown {
  if (node.kind !== WIDGET) return node.instance;
  const widget = node.instance as WidgetNode;
  if (widget.handle !== null) return widget.handle;
  let up = node;
  while (up.kind !== ROOT) up = up.parent!;
  return (up.instance as Root).output.handleOf(widget);
}

export function attachRef(node: Node): void {
  const { ref } = node;
  if (ref === null) return;
  node.attached = ref;
  try {
    if (typeof ref === 'function') {
      const cleanup: unknown = ref(publicInstance(node));
      node.detach = REF_IS_PROP && typeof cleanup === 'function' ? cleanup : null;
    } else if (typeof ref === 'object') (ref as { current: unknown }).current = publicInstance(node);
    else throw new Error('A ref must be a function, or an object of createRef or useRef');
  } catch (error) {
    failed(node.parent, error);
  }
}

/** Clears the ref that is set; `above` is where an error goes. */
export function detachRef(node: Node, above: Node | null): void {
  const { attached, detach } = node;
  if (attached === null) return;
  node.attached = null;
  node.detach = null;
  try {
    if (detach !== null) detach();
    else if (typeof attached === 'function') attached(null);
    else attached.current = null;
  } catch (error) {
    failed(above, error);
  }
}
