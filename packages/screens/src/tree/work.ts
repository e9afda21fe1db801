/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Work: the render that runs, and the log by which it is undone. A render changes nodes in place; a commit drops the log. */
import type { Root } from './root.js';
import type { Wakeable } from './errors.js';
import type { Context } from './react.js';
import { GONE, HOST, type Node, type Queue, type Update } from './node.js';

interface Work {
  root: Root | null;
  /** Number of this render. */
  count: number;
  /** Lanes of this render. */
  rootLanes: number;
  /** Lanes of this render, with those that hidden subtrees missed. */
  lanes: number;
  rendering: boolean;
  committing: boolean;
  /** Whether an error was met, and all is rendered again to find out whether it stays. */
  recovering: boolean;
  /** Nearest widget or root above. */
  host: Node | null;
  /** Outermost boundary whose content is not on the screen yet. */
  shell: Node | null;
  /** Nearest boundary above. */
  boundary: Node | null;
  /** Number of boundaries above that are about to show their content again. */
  revealing: number;
  /** Promises that this render met. */
  met: Wakeable[];
  /** Lane of values that this render defers; 0 for none. */
  deferredLane: number;
  /** Whether lanes of nodes below may have gone without a render: `childLanes` above are out of date. */
  dropped: boolean;
  /** Nodes that the commit visits, in its order. */
  effects: Node[];
  /** Widgets and roots whose children may have changed. */
  hosts: Node[];
  /** Whether one of `effects` has to be visited before anything changes. */
  early: boolean;
}

export const work: Work = {
  root: null,
  count: 0,
  rootLanes: 0,
  lanes: 0,
  rendering: false,
  committing: false,
  recovering: false,
  host: null,
  shell: null,
  boundary: null,
  revealing: 0,
  met: [],
  deferredLane: 0,
  dropped: false,
  effects: [],
  hosts: [],
  early: false,
};

// oxlint-disable-next-line typescript/no-explicit-any -- entries of mixed types, FIELDS in a row
const nodes: any[] = [];
const FIELDS = 9;
/** Queues with the updates that were taken from them. */
const queues: (Queue | Update | null)[] = [];
/** Contexts with the values outside. */
const contexts: unknown[] = [];

/** Notes a node's fields before a render changes them. */
export function log(node: Node): void {
  nodes.push(
    node,
    node.props,
    node.ref,
    node.hooks,
    node.state,
    node.kids,
    node.lanes,
    node.childLanes,
    node.contexts,
  );
}

/** Takes all updates from a queue; a rollback puts them back. */
export function take(queue: Queue): Update | null {
  const first = queue.first;
  if (first === null) return null;
  queues.push(queue, first, queue.last);
  queue.first = null;
  queue.last = null;
  return first;
}

export function pushContext(context: Context, value: unknown): void {
  contexts.push(context, context._currentValue2);
  context._currentValue2 = value;
}

export function popContext(): void {
  const before = contexts.pop();
  (contexts.pop() as Context)._currentValue2 = before;
}

/** A point to which a render can go back. */
export class Mark {
  declare readonly nodes: number;
  declare readonly queues: number;
  declare readonly contexts: number;
  declare readonly effects: number;
  declare readonly hosts: number;
  declare readonly lanes: number;
  declare readonly host: Node | null;
  declare readonly shell: Node | null;
  declare readonly boundary: Node | null;
  declare readonly revealing: number;

  constructor() {
    this.nodes = nodes.length;
    this.queues = queues.length;
    this.contexts = contexts.length;
    this.effects = work.effects.length;
    this.hosts = work.hosts.length;
    this.lanes = work.lanes;
    this.host = work.host;
    this.shell = work.shell;
    this.boundary = work.boundary;
    this.revealing = work.revealing;
  }
}

export function rollback(mark: Mark): void {
  work.dropped = true;
  while (nodes.length > mark.nodes) {
    const at = nodes.length - FIELDS;
    const node = nodes[at] as Node;
    node.props = nodes[at + 1];
    node.ref = nodes[at + 2];
    node.hooks = nodes[at + 3];
    node.state = nodes[at + 4];
    node.kids = nodes[at + 5];
    node.lanes = nodes[at + 6];
    node.childLanes = nodes[at + 7];
    node.contexts = nodes[at + 8];
    nodes.length = at;
  }
  while (queues.length > mark.queues) {
    const last = queues.pop() as Update;
    const first = queues.pop() as Update;
    const queue = queues.pop() as Queue;
    last.next = queue.first;
    queue.first = first;
    if (queue.last === null) queue.last = last;
  }
  while (contexts.length > mark.contexts) popContext();
  const { effects, hosts } = work;
  for (let i = mark.effects; i < effects.length; i++) effects[i]!.flags &= GONE;
  effects.length = mark.effects;
  for (let i = mark.hosts; i < hosts.length; i++) hosts[i]!.flags &= ~HOST;
  hosts.length = mark.hosts;
  work.lanes = mark.lanes;
  work.host = mark.host;
  work.shell = mark.shell;
  work.boundary = mark.boundary;
  work.revealing = mark.revealing;
}

/** Drops the log: what was rendered stays. */
export function keep(): void {
  nodes.length = 0;
  queues.length = 0;
}

/** Drops the last render, which holds the nodes that it met last. */
export function forgetRender(): void {
  work.root = null;
  work.host = null;
  work.shell = null;
  work.boundary = null;
  work.met.length = 0;
}
