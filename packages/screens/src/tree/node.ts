/** Node: one instance of an element in the tree. */
import type { Comparison, Props } from './react.js';

// Kinds. From FIRST_WITH_REF on, elements may have a ref.
export const ROOT = 0;
export const FUNCTION = 1;
/** Children only: fragments and arrays. `props` are the children. */
export const FRAGMENT = 2;
/** Children in `props.children`: StrictMode, Profiler and the like. */
export const WRAPPER = 3;
export const PROVIDER = 4;
export const CONSUMER = 5;
export const SUSPENSE = 6;
/** The children of a Suspense, hidden or not. */
export const OFFSCREEN = 7;
export const FIRST_WITH_REF = 8;
export const WIDGET = 8;
export const CLASS = 9;
export const FORWARD_REF = 10;
/** `memo` of a plain function without a comparison of its own: one node for both. */
export const SIMPLE_MEMO = 11;
/** Other `memo`: a node around the node of its component. */
export const MEMO = 12;
/** A lazy component before its first render; then the kind is that of what was loaded. */
export const LAZY = 13;

// Flags: what a commit has to do for a node.
export const DELETED = 1 << 1;
export const INSERTION = 1 << 2;
export const LAYOUT = 1 << 3;
export const PASSIVE = 1 << 4;
export const REF = 1 << 5;
export const UPDATE = 1 << 6;
export const MOUNT = 1 << 7;
export const SNAPSHOT = 1 << 8;
export const CALLBACK = 1 << 9;
export const VISIBILITY = 1 << 10;
export const RETRY_LISTENERS = 1 << 11;
export const EVENTS = 1 << 12;
/** Children of this widget or root may have changed places. */
export const HOST = 1 << 13;
/** The node was in a hidden subtree before this commit. */
export const WAS_HIDDEN = 1 << 14;
/** Not in the tree any more. */
export const GONE = 1 << 15;

export type Kids = readonly (Node | null)[];
export const NO_KIDS: Kids = [];

// oxlint-disable-next-line typescript/no-explicit-any -- fields whose type depends on the kind of node
type ByKind = any;

export class Node {
  declare kind: number;
  /** Type of the element. */
  readonly type: unknown;
  /** What renders: a function, a class, a context. */
  declare component: ByKind;
  declare key: string | null;
  props: Props;
  declare ref: unknown;
  parent: Node | null;
  declare kids: Kids;
  /** Updates of the node itself that wait. */
  declare lanes: number;
  /** Updates below that wait. */
  declare childLanes: number;
  declare flags: number;
  /** Slots of hooks, STRIDE each; skipped updates of a class or root; base lanes of an offscreen node. */
  declare hooks: ByKind;
  /** State of a class, element of a root, whether an offscreen node is hidden. */
  declare state: ByKind;
  /** Instance of a class, widget, root. */
  declare instance: ByKind;
  /** Data that a rollback leaves as it is: queue of a class, wakeables of a boundary. */
  declare data: ByKind;
  /** Render that used up updates of the node; 0 if the last one did not. */
  declare used: number;
  /** Render that went on to the node's children last. */
  declare entered: number;
  /** Contexts that the last render read, each followed by its value. */
  declare contexts: readonly unknown[] | null;
  /** Comparison by the compiler for a memo, and the props whose place it is of. */
  declare equal: Comparison | undefined;
  declare equalProps: Props;
  /** The ref that is set now. */
  declare attached: ByKind;
  /** What the ref's function returned. */
  declare detach: ByKind;

  constructor(kind: number, type: unknown, props: Props, parent: Node | null) {
    this.type = type;
    this.props = props;
    this.parent = parent;
    if (kind !== WIDGET) this.kind = kind;
  }
}

// Most nodes never have one of these of their own, and each store of a constructor counts where code is interpreted.
Object.assign(Node.prototype, {
  kind: WIDGET,
  component: null,
  key: null,
  ref: null,
  kids: NO_KIDS,
  flags: 0,
  lanes: 0,
  childLanes: 0,
  used: 0,
  entered: 0,
  hooks: null,
  state: null,
  instance: null,
  data: null,
  contexts: null,
  equal: undefined,
  equalProps: undefined,
  attached: null,
  detach: null,
});

/** Base of updates that a render skipped, for the render that takes them up. */
export interface Base {
  readonly state: unknown;
  readonly updates: readonly Update[];
}

/** An update of state that waits. */
export class Update {
  lane: number;
  /** Lane whose render undoes this update; 0 for none (optimistic updates). */
  revert: number;
  /** 0 set, 1 replace, 2 force, 3 an error was caught (classes). */
  tag: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- value or function of the app
  action: any;
  /** Whether `state` is the result already. */
  eager: boolean;
  state: unknown;
  // oxlint-disable-next-line typescript/no-explicit-any -- function of the app
  callback: any;
  next: Update | null;

  constructor(lane: number, revert: number, tag: number, action: unknown) {
    this.lane = lane;
    this.revert = revert;
    this.tag = tag;
    this.action = action;
    this.eager = false;
    this.state = undefined;
    this.callback = null;
    this.next = null;
  }

  /** The same update in another lane: a list of skipped updates shares nothing with the queue. */
  copy(lane: number, callback: unknown): Update {
    const copy = new Update(lane, this.revert, this.tag, this.action);
    copy.eager = this.eager;
    copy.state = this.state;
    copy.callback = callback;
    return copy;
  }
}

/** Updates that wait: a list from `first` to `last`. */
export interface Queue {
  first: Update | null;
  last: Update | null;
  /** Transition lanes of its updates: they render together. */
  lanes: number;
}

export function enqueue(queue: Queue, update: Update): void {
  if (queue.last === null) queue.first = update;
  else queue.last.next = update;
  queue.last = update;
}
