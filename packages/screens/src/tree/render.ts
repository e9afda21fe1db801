/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Render: goes down the tree, in its order, and renders each node whose props, state or contexts have changed. */
import { reconcile } from './children.js';
import { descendClass, renderClass } from './classes.js';
import { BAILED_OUT, runComponent } from './component.js';
import { propagate } from './context.js';
import { createNode, resolveLazy } from './create.js';
import { OUTSIDE } from './hooks/dispatchers.js';
import { beginContexts, endContexts, readContext } from './hooks/cursor.js';
import * as kinds from './node.js';
import { HOST, REF, UPDATE, WAS_HIDDEN, type Node } from './node.js';
import { ELEMENT, setHooks, type Context, type Props } from './react.js';
import { descendSuspense, renderSuspense } from './suspense.js';
import { log, popContext, pushContext, work } from './work.js';

/** Renders a new node. */
export function mount(node: Node): void {
  if (node.kind === kinds.WIDGET) {
    mountWidget(node);
    return;
  }
  render(node, node.props, node.ref, true, 0, 0);
}

/** Renders a node again, if its props differ or an update waits in it; visits the nodes below if one waits there. */
export function revisit(node: Node, props: Props, ref: unknown): void {
  if (node.kind === kinds.WIDGET) {
    revisitWidget(node, props, ref);
    return;
  }
  const { lanes } = work;
  const waiting = node.lanes;
  const own = waiting & lanes;
  const below = node.childLanes & lanes;
  if (node.props === props && own === 0) {
    if (below !== 0) descend(node);
    return;
  }
  log(node);
  node.flags = 0;
  // What a render skips, it notes again.
  node.lanes = 0;
  node.used = waiting === 0 ? 0 : work.count;
  node.childLanes &= ~lanes;
  render(node, props, ref, false, waiting, below);
  if ((waiting & ~lanes & ~node.lanes) !== 0) work.dropped = true;
}

/** Visits the nodes below in which updates wait. */
export function descend(node: Node): void {
  log(node);
  node.flags &= HOST;
  node.childLanes &= ~work.lanes;
  goDown(node);
}

function goDown(node: Node): void {
  switch (node.kind) {
    case kinds.WIDGET: {
      const { host } = work;
      work.host = node;
      visitKids(node);
      work.host = host;
      return;
    }
    case kinds.PROVIDER:
      pushContext(node.component as Context, node.props.value);
      visitKids(node);
      popContext();
      return;
    case kinds.CLASS:
      descendClass(node);
      return;
    case kinds.SUSPENSE:
      descendSuspense(node);
      return;
    default:
      visitKids(node);
  }
}

export function visitKids(node: Node): void {
  const { kids } = node;
  const { lanes } = work;
  node.entered = work.count;
  for (let i = 0; i < kids.length; i++) {
    const kid = kids[i]!;
    if (kid !== null && ((kid.lanes | kid.childLanes) & lanes) !== 0) revisit(kid, kid.props, kid.ref);
  }
}

/** Adds a node to those that the commit visits. */
export function complete(node: Node): void {
  if (work.revealing > 0) node.flags |= WAS_HIDDEN;
  work.effects.push(node);
}

/** The node's component bailed out: its children stay, and updates below them are looked for. */
function stay(node: Node, below: number): void {
  node.used = 0;
  if (below !== 0) goDown(node);
  if ((node.flags & ~HOST) !== 0) complete(node);
}

/** Renders the children that a component has returned; its old ones stay if it bailed out. */
function renderChildren(node: Node, children: unknown, below: number): void {
  if (children === BAILED_OUT) {
    stay(node, below);
    return;
  }
  reconcile(node, children);
  if (node.flags !== 0) complete(node);
}

function render(
  node: Node,
  props: Props,
  ref: unknown,
  mounting: boolean,
  waiting: number,
  below: number,
): void {
  switch (node.kind) {
    case kinds.WIDGET:
      throw new Error('A widget is visited by mountWidget and revisitWidget');
    case kinds.FUNCTION: {
      const children = runComponent(node, node.component, props, undefined, mounting, node.props !== props);
      node.props = props;
      renderChildren(node, children, below);
      return;
    }
    case kinds.FRAGMENT:
      node.props = props;
      reconcile(node, props);
      return;
    case kinds.WRAPPER:
      node.props = props;
      reconcile(node, props.children);
      return;
    case kinds.PROVIDER: {
      const context = node.component as Context;
      if (!mounting && !Object.is(node.props.value, props.value)) propagate(node, context);
      node.props = props;
      pushContext(context, props.value);
      reconcile(node, props.children);
      popContext();
      return;
    }
    case kinds.CONSUMER: {
      node.props = props;
      beginContexts(node);
      const value = readContext((node.component as Context)._context ?? (node.component as Context));
      endContexts(node);
      setHooks(OUTSIDE);
      reconcile(node, (props.children as (value: unknown) => unknown)(value));
      return;
    }
    case kinds.CLASS:
      renderClass(node, props, ref, mounting, below);
      return;
    case kinds.SIMPLE_MEMO:
      renderMemo(node, props, ref, mounting, waiting, below);
      return;
    case kinds.FORWARD_REF: {
      const received = node.props !== props;
      node.props = props;
      node.ref = ref;
      const children = runComponent(node, node.component, withoutRef(props), ref, mounting, received);
      renderChildren(node, children, below);
      return;
    }
    case kinds.MEMO:
      renderWrappedMemo(node, props, ref, mounting, waiting, below);
      return;
    case kinds.SUSPENSE:
      renderSuspense(node, props, mounting);
      return;
    case kinds.LAZY:
      resolveLazy(node);
      render(node, props, ref, mounting, waiting, below);
      return;
    default:
      throw new Error(`A node of kind ${node.kind} is not rendered here`);
  }
}

function mountWidget(node: Node): void {
  const { children } = node.props;
  if (children !== undefined && children !== null) {
    const { host } = work;
    work.host = node;
    reconcile(node, children);
    work.host = host;
  }
  if (node.ref !== null) {
    node.flags |= REF;
    complete(node);
  }
}

/** Renders a widget with new props; visits the nodes below if they are the same. Updates never wait in a widget itself. */
export function revisitWidget(node: Node, props: Props, ref: unknown): void {
  const before = node.props;
  if (before === props) {
    if ((node.childLanes & work.lanes) !== 0) descend(node);
    return;
  }
  log(node);
  node.flags = node.ref === ref ? UPDATE : UPDATE | REF;
  node.props = props;
  node.ref = ref;
  const { children } = props;
  if (children !== undefined || node.kids.length > 0) {
    const { host } = work;
    work.host = node;
    const below = node.childLanes & work.lanes;
    node.childLanes &= ~work.lanes;
    // An array may have changed inside.
    if (children !== before.children || Array.isArray(children)) reconcile(node, children);
    else if (below !== 0) visitKids(node);
    work.host = host;
  }
  if (work.revealing > 0) node.flags |= WAS_HIDDEN;
  work.effects.push(node);
}

function renderMemo(
  node: Node,
  props: Props,
  ref: unknown,
  mounting: boolean,
  waiting: number,
  below: number,
): void {
  let given = props;
  let received = node.props !== props;
  if (received && node.ref === ref && !mounting && shallowEqual(node.props, props)) {
    given = node.props;
    received = false;
    if ((waiting & work.lanes) === 0) {
      node.lanes = waiting;
      stay(node, below);
      return;
    }
  }
  node.ref = ref;
  const children = runComponent(node, node.component, given, undefined, mounting, received);
  node.props = given;
  renderChildren(node, children, below);
}

function renderWrappedMemo(
  node: Node,
  props: Props,
  ref: unknown,
  mounting: boolean,
  waiting: number,
  below: number,
): void {
  const memo = node.component as { type: unknown; compare: ((a: Props, b: Props) => boolean) | null };
  if (mounting) {
    const kid = createNode({ $$typeof: ELEMENT, type: memo.type, key: null, ref, props }, node);
    node.kids = [kid];
    mount(kid);
    return;
  }
  const kid = node.kids[0]!;
  const same =
    (waiting & work.lanes) === 0 && (memo.compare ?? shallowEqual)(kid.props, props) && node.ref === ref;
  node.props = props;
  node.ref = ref;
  if (same) stay(node, below);
  else revisit(kid, props, ref);
}

/** Compares props; names that a prototype gives count, too. Elements made by JSX have none. */
export function shallowEqual(before: Props, now: Props): boolean {
  if (Object.is(before, now)) return true;
  if (typeof before !== 'object' || before === null || typeof now !== 'object' || now === null) return false;
  let names = 0;
  for (const name in before) {
    if (!Object.is(before[name], now[name]) || !(name in now)) return false;
    names++;
  }
  for (const _ in now) names--;
  return names === 0;
}

function withoutRef(props: Props): Props {
  if (!('ref' in props)) return props;
  const rest: Record<string, unknown> = {};
  for (const name in props) if (name !== 'ref') rest[name] = props[name];
  return rest;
}

/** Brings `childLanes` up to date after lanes were dropped; returns the lanes that wait in the node and below. */
export function collectLanes(node: Node): number {
  // What waits in a hidden subtree waits for its boundary.
  if (node.childLanes !== 0 && !(node.kind === kinds.OFFSCREEN && node.state === true)) {
    let below = 0;
    const { kids } = node;
    for (let i = 0; i < kids.length; i++) if (kids[i] !== null) below |= collectLanes(kids[i]!);
    node.childLanes = below;
  }
  return node.lanes | node.childLanes;
}
