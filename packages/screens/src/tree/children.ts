/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Children: matches new elements with the nodes that are there, as React does, and renders them. */
import { createFragment, createNode, matches } from './create.js';
import { loadLazy, read, isThenable } from './errors.js';
import { at } from './hooks/cursor.js';
import {
  DELETED,
  FRAGMENT,
  HOST,
  NO_KIDS,
  SIMPLE_MEMO,
  WAS_HIDDEN,
  WIDGET,
  type Kids,
  type Node,
} from './node.js';
import * as react from './react.js';
import type { Comparison, Context, Element, Props } from './react.js';
import { descend, mount, revisit, revisitWidget, shallowEqual } from './render.js';
import { work } from './work.js';

/** The host's children have to be compared in this commit. */
export function markHost(): void {
  const host = work.host!;
  // The children of a new widget come with it.
  if ((host.flags & HOST) !== 0 || (host.kind === WIDGET && host.instance === null)) return;
  host.flags |= HOST;
  work.hosts.push(host);
}

export function deleteNode(node: Node): void {
  node.flags = work.revealing > 0 ? DELETED | WAS_HIDDEN : DELETED;
  if ((node.lanes | node.childLanes) !== 0) work.dropped = true;
  work.effects.push(node);
  markHost();
}

/** Last render before this one that came to the children of the node that is reconciled. */
let enteredBefore = 0;

/** Deletes a child. React makes no copy of it then: should the render be undone, the copy that it has is as stale as it was. */
function drop(kid: Node): void {
  if (kid.used >= enteredBefore && kid.used !== 0) kid.used = work.count;
  deleteNode(kid);
}

/** Renders the children of a node whose fields are in the log. */
export function reconcile(parent: Node, children: unknown): void {
  enteredBefore = parent.entered;
  parent.entered = work.count;
  let value = children;
  if (
    typeof value === 'object' &&
    value !== null &&
    (value as Element).type === react.FRAGMENT &&
    (value as Element).key === null &&
    (value as Element).props.ref === undefined
  )
    value = (value as Element).props.children;
  if (typeof value === 'object' && value !== null) {
    if ((value as Element).$$typeof === react.ELEMENT) {
      reconcileOne(parent, value as Element);
      return;
    }
    if (Array.isArray(value)) {
      reconcileList(parent, value);
      return;
    }
    value = unwrap(parent, value);
    if (typeof value === 'object' && value !== null) {
      if ((value as Element).$$typeof === react.ELEMENT) reconcileOne(parent, value as Element);
      else reconcileList(parent, listOf(value));
      return;
    }
  }
  refuseText(value);
  deleteAll(parent);
}

function deleteAll(parent: Node): void {
  const { kids } = parent;
  for (let i = 0; i < kids.length; i++) {
    const kid = kids[i]!;
    if (kid !== null) drop(kid);
  }
  if (kids.length > 0) parent.kids = NO_KIDS;
}

/** Value behind a lazy element, a promise or a context among children. */
function unwrap(parent: Node, child: unknown): unknown {
  let value = child;
  while (typeof value === 'object' && value !== null) {
    const { $$typeof } = value as { $$typeof?: symbol };
    if ($$typeof === react.ELEMENT) return value;
    if ($$typeof === react.LAZY) value = loadLazy(value);
    else if ($$typeof === react.CONTEXT && react.REF_IS_PROP) {
      at.node = parent;
      value = (value as Context)._currentValue2;
      noteContext(parent, child as Context);
    } else if (Array.isArray(value)) return value;
    else if (isThenable(value)) value = read(value);
    else return value;
  }
  return value;
}

function noteContext(parent: Node, context: Context): void {
  const list = parent.contexts ?? [];
  if (!list.includes(context)) parent.contexts = [...list, context, context._currentValue2];
}

function listOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  if (typeof (value as { [Symbol.iterator]?: unknown })[Symbol.iterator] === 'function')
    return [...(value as Iterable<unknown>)];
  const { $$typeof } = value as { $$typeof?: symbol };
  if ($$typeof === react.PORTAL) throw new Error('A screen has no portals');
  if ($$typeof !== undefined && String($$typeof).includes('element'))
    throw new Error('An element of another version of React is among the children');
  throw new Error(
    `Objects are not valid as a React child (found: object with keys {${Object.keys(value).join(', ')}})`,
  );
}

function refuseText(value: unknown): void {
  if ((typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'bigint')
    throw new Error(
      `A text cannot be a child on a screen: put ${JSON.stringify(String(value))} into the \`text\` prop of a Widget`,
    );
}

function create(parent: Node, value: object): Node {
  return (value as Element).$$typeof === react.ELEMENT
    ? createNode(value as Element, parent)
    : createFragment(listOf(value), parent);
}

/** Renders a node again, for an element that matches it. */
function goOn(node: Node, value: object): void {
  if ((value as Element).$$typeof !== react.ELEMENT) {
    revisit(node, value, null);
    return;
  }
  const { props } = value as Element;
  const given = react.REF_IS_PROP ? props.ref : (value as Element).ref;
  const ref = given === undefined ? null : given;
  if (node.kind === WIDGET) {
    revisitWidget(node, props, ref);
    return;
  }
  if (node.kind === SIMPLE_MEMO && node.lanes === 0 && node.props !== props) {
    if (node.ref === ref && isSame(node, props, (value as Element).$e)) {
      if ((node.childLanes & work.lanes) !== 0) descend(node);
      return;
    }
    node.equal = (value as Element).$e;
    node.equalProps = props;
  }
  revisit(node, node.kind === FRAGMENT ? props.children : props, ref);
}

/** Whether a memo stays as it is; a row that moves its focus asks this of each of its entries. */
function isSame(node: Node, props: Props, equal: Comparison | undefined): boolean {
  const before = node.props;
  // Both props are of one place, so have the same names.
  if (equal !== undefined && equal === node.equal && node.equalProps === before) return equal(before, props);
  return shallowEqual(before, props);
}

function reconcileOne(parent: Node, element: Element): void {
  const { kids } = parent;
  if (kids.length === 0) {
    mountOne(parent, element);
    return;
  }
  const { key } = element;
  if (kids.length === 1) {
    const kid = kids[0]!;
    if (kid !== null && kid.key === key && matches(kid, element)) {
      goOn(kid, element);
      return;
    }
  }
  let found: Node | null = null;
  let i = 0;
  for (; i < kids.length; i++) {
    const kid = kids[i]!;
    if (kid === null) continue;
    if (kid.key === key) {
      if (matches(kid, element)) {
        found = kid;
        i++;
      }
      break;
    }
    drop(kid);
  }
  for (; i < kids.length; i++) {
    const kid = kids[i]!;
    if (kid !== null) drop(kid);
  }
  if (found !== null) {
    parent.kids = [found];
    goOn(found, element);
    return;
  }
  mountOne(parent, element);
}

function mountOne(parent: Node, element: Element): void {
  markHost();
  const node = createNode(element, parent);
  parent.kids = [node];
  mount(node);
}

function reconcileList(parent: Node, list: readonly unknown[]): void {
  const { kids } = parent;
  const { length } = list;
  if (kids.length === 0) {
    mountList(parent, list);
    return;
  }
  if (kids.length === length && allMatch(kids, list)) {
    for (let i = 0; i < length; i++) {
      const kid = kids[i]!;
      if (kid !== null) goOn(kid, list[i] as object);
    }
    return;
  }
  matchList(parent, kids, list);
}

function mountList(parent: Node, list: readonly unknown[]): void {
  const { length } = list;
  if (length === 0) return;
  const kids: (Node | null)[] = [];
  for (let i = 0; i < length; i++) {
    let value = list[i];
    if (typeof value === 'object' && value !== null && (value as Element).$$typeof === react.ELEMENT) {
      kids.push(createNode(value as Element, parent));
      continue;
    }
    value = unwrap(parent, value);
    if (typeof value === 'object' && value !== null) kids.push(create(parent, value));
    else {
      refuseText(value);
      kids.push(null);
    }
  }
  parent.kids = kids;
  markHost();
  for (let i = 0; i < length; i++) {
    const kid = kids[i]!;
    if (kid !== null) mount(kid);
  }
}

/** Whether each node matches the element in its place. */
function allMatch(kids: Kids, list: readonly unknown[]): boolean {
  for (let i = 0; i < list.length; i++) {
    const kid = kids[i]!;
    const value = list[i];
    if (typeof value === 'object' && value !== null) {
      if (kid === null) return false;
      if ((value as Element).$$typeof === react.ELEMENT) {
        if (kid.key !== (value as Element).key) return false;
        if (kid.type !== (value as Element).type && !matches(kid, value as Element)) return false;
      } else if (!Array.isArray(value) || kid.kind !== FRAGMENT || kid.key !== null) return false;
    } else {
      if (kid !== null) return false;
      refuseText(value);
    }
  }
  return true;
}

/** Node that becomes `value`: the one in its place, or a new one. */
function slotFor(parent: Node, kid: Node | null, value: object): Node {
  if (kid === null) return create(parent, value);
  if ((value as Element).$$typeof === react.ELEMENT)
    return matches(kid, value as Element) ? kid : createNode(value as Element, parent);
  return kid.kind === FRAGMENT ? kid : create(parent, value);
}

function keyOf(value: unknown): string | null {
  return (value as Element).$$typeof === react.ELEMENT ? (value as Element).key : null;
}

function nextKid(kids: Kids, from: number): number {
  let i = from;
  while (i < kids.length && kids[i] === null) i++;
  return i;
}

function matchList(parent: Node, old: Kids, given: readonly unknown[]): void {
  const { length } = given;
  /** Elements for nodes that stay; null for a new one. */
  const list: unknown[] = [];
  const kids: (Node | null)[] = [];
  let from = nextKid(old, 0);
  let i = 0;
  for (; i < length && from < old.length; i++) {
    const value = unwrap(parent, given[i]);
    const kid = from > i ? null : old[from]!;
    if (typeof value !== 'object' || value === null) {
      refuseText(value);
      break;
    }
    if (keyOf(value) !== (kid === null ? null : kid.key)) break;
    const node = slotFor(parent, kid, value);
    if (kid !== null) {
      if (node !== kid) drop(kid);
      from = nextKid(old, from + 1);
    }
    list.push(node === kid ? value : null);
    kids.push(node);
  }
  const rest = i < length && from < old.length ? mapOf(old, from) : null;
  if (rest === null) for (; from < old.length; from++) if (old[from] !== null) drop(old[from]!);
  for (; i < length; i++) {
    const value = unwrap(parent, given[i]);
    if (typeof value !== 'object' || value === null) {
      refuseText(value);
      list.push(null);
      kids.push(null);
      continue;
    }
    let kid: Node | null = null;
    if (rest !== null) kid = rest.get(keyOf(value) ?? i) ?? null;
    const node = slotFor(parent, kid, value);
    if (node === kid) rest!.delete(kid.key ?? i);
    list.push(node === kid ? value : null);
    kids.push(node);
  }
  if (rest !== null) for (const kid of rest.values()) drop(kid);
  parent.kids = kids;
  markHost();
  for (i = 0; i < length; i++) {
    const kid = kids[i]!;
    if (kid === null) continue;
    if (list[i] === null) mount(kid);
    else goOn(kid, list[i] as object);
  }
}

function mapOf(old: Kids, from: number): Map<string | number, Node> {
  const map = new Map<string | number, Node>();
  for (let i = from; i < old.length; i++) {
    const kid = old[i]!;
    if (kid !== null) map.set(kid.key ?? i, kid);
  }
  return map;
}
