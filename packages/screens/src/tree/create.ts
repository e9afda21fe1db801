/** Nodes for elements. */
import { isValidElement } from 'react';
import { loadLazy, nameOf } from './errors.js';
import * as kinds from './node.js';
import { Node } from './node.js';
import * as react from './react.js';
import type { Element, Props } from './react.js';

/** Type of the one element that is drawn. */
export const WIDGET_TYPE = 'sluice-widget';

/** Keys of an object that a message names. */
const KEYS_MAX = 8;

interface MemoType {
  readonly type: unknown;
  readonly compare: ((before: Props, now: Props) => boolean) | null;
}

export function isClass(type: { prototype?: { isReactComponent?: unknown } }): boolean {
  return type.prototype !== undefined && type.prototype !== null && Boolean(type.prototype.isReactComponent);
}

/** The last component that was resolved: rows have many of one kind. */
const last: { type: unknown; kind: number; component: unknown } = { type: null, kind: 0, component: null };

function resolveAgain(node: Node, type: unknown): void {
  if (type === last.type) {
    node.kind = last.kind;
    node.component = last.component;
    return;
  }
  resolve(node, type);
  // A lazy type is another one once it is loaded.
  if (node.kind === kinds.LAZY) return;
  last.type = type;
  last.kind = node.kind;
  last.component = node.component;
}

/** Sets what a node renders, and how, from the type of its element. */
function resolve(node: Node, type: unknown): void {
  node.component = type;
  if (typeof type === 'function') {
    node.kind = isClass(type) ? kinds.CLASS : kinds.FUNCTION;
    return;
  }
  if (typeof type === 'object' && type !== null) {
    const { $$typeof } = type as { $$typeof: symbol };
    switch ($$typeof) {
      case react.FORWARD_REF:
        node.kind = kinds.FORWARD_REF;
        node.component = (type as { render: unknown }).render;
        return;
      case react.MEMO: {
        const { type: inner, compare } = type as MemoType;
        const simple =
          typeof inner === 'function' &&
          compare === null &&
          !isClass(inner) &&
          (inner as { defaultProps?: unknown }).defaultProps === undefined;
        node.kind = simple ? kinds.SIMPLE_MEMO : kinds.MEMO;
        node.component = simple ? inner : type;
        return;
      }
      case react.CONTEXT:
        // React 18's consumer is the context, React 19's provider is.
        node.kind = react.REF_IS_PROP ? kinds.PROVIDER : kinds.CONSUMER;
        return;
      case react.PROVIDER:
        node.kind = kinds.PROVIDER;
        node.component = (type as { _context: unknown })._context;
        return;
      case react.CONSUMER:
        node.kind = kinds.CONSUMER;
        node.component = (type as { _context: unknown })._context;
        return;
      case react.LAZY:
        node.kind = kinds.LAZY;
        return;
      default:
    }
  }
  switch (type) {
    case react.SUSPENSE:
      node.kind = kinds.SUSPENSE;
      return;
    case react.FRAGMENT:
      node.kind = kinds.FRAGMENT;
      return;
    case react.STRICT_MODE:
    case react.PROFILER:
    case react.SUSPENSE_LIST:
    case react.ACTIVITY:
    case react.VIEW_TRANSITION:
      node.kind = kinds.WRAPPER;
      return;
    default:
  }
  if (typeof type === 'string')
    throw new Error(`<${type}> is not supported on screens; use Widget of @sluice/screens`);
  throw new Error(`Element type is invalid: expected a component, but got ${describe(type)}${ownerOf(node)}`);
}

/** Words for what stands in place of a component. */
function describe(type: unknown): string {
  if (type === undefined) return 'undefined (a forgotten export, or default and named import mixed up?)';
  if (typeof type !== 'object' || type === null) return nameOf(type);
  if (isValidElement(type)) return 'an element';
  return `an object with keys {${Object.keys(type).slice(0, KEYS_MAX).join(', ')}}`;
}

/** Name of the nearest component above a node, for messages. */
function ownerOf(node: Node): string {
  for (let above = node.parent; above !== null; above = above.parent)
    if (typeof above.type === 'function' || (typeof above.type === 'object' && above.type !== null))
      return `, below ${nameOf(above.type)}`;
  return '';
}

export function createNode(element: Element, parent: Node): Node {
  const { type, props, key } = element;
  const ref = react.REF_IS_PROP ? props.ref : element.ref;
  const node = new Node(kinds.WIDGET, type, props, parent);
  if (key !== null) node.key = key;
  if (ref !== undefined && ref !== null) node.ref = ref;
  if (type === WIDGET_TYPE) return node;
  resolveAgain(node, type);
  if (node.kind === kinds.FRAGMENT) node.props = props.children;
  else if (node.kind === kinds.SIMPLE_MEMO) {
    node.equal = element.$e;
    node.equalProps = props;
  }
  return node;
}

export function createFragment(children: unknown, parent: Node): Node {
  return new Node(kinds.FRAGMENT, react.FRAGMENT, children, parent);
}

/** Turns a lazy node into one of what was loaded. */
export function resolveLazy(node: Node): void {
  resolve(node, loadLazy(node.component));
}

/** Whether a node is an instance of the element's type. */
export function matches(node: Node, element: Element): boolean {
  const { type } = element;
  if (node.type === type) return true;
  return (
    typeof type === 'object' &&
    type !== null &&
    (type as { $$typeof?: symbol }).$$typeof === react.LAZY &&
    loadLazy(type) === node.component
  );
}
