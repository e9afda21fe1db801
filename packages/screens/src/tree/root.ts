/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Root: the top of a tree, with the lanes that wait in it. */
import type { Surface } from '../surfaces/surface.js';
import type { Output } from '../widget/output.js';
import { deleteNode, reconcile } from './children.js';
import { report, type Wakeable } from './errors.js';
import { dropOwnScope, type Scope } from './actions.js';
import { highest } from './lanes.js';
import { CALLBACK, NO_KIDS, Node, ROOT, Update, type Base, type Queue } from './node.js';
import { visitKids } from './render.js';
import { laneOfUpdate, markUpdate, request } from './schedule.js';
import { log, take, work } from './work.js';

export interface ErrorInfo {
  readonly componentStack: string;
  readonly errorBoundary?: unknown;
}

export interface RootOptions {
  /** Called with an error that no boundary has caught; the root is empty then. Without it, errors go to `reportError` or `console.error`. */
  readonly onUncaughtError?: (error: unknown, info: ErrorInfo) => void;
  /** Called with an error that a boundary has caught. */
  readonly onCaughtError?: (error: unknown, info: ErrorInfo) => void;
  /**
   * Effects that run; `all` by default. With `layout` or `none` the root renders in `flush` alone, for servers, where several render by turns:
   * `layout` runs layout effects and refs, but no passive effects.
   */
  readonly effects?: 'all' | 'layout' | 'none';
  /** Called with each promise that a render waits for. */
  readonly onWait?: (wakeable: PromiseLike<unknown>) => void;
  /** Called with an error that a handler of events has thrown. Without it, errors go to `reportError` or `console.error`. */
  readonly onEventError?: (error: unknown) => void;
  /** Called with each promise that a handler of keys returns. */
  readonly onEventWork?: (work: PromiseLike<unknown>) => void;
}

/** A root, or null once it was unmounted. */
export interface Link {
  root: Root | null;
}

/** Number of the lowest bit. */
function bitOf(lanes: number): number {
  return 31 - Math.clz32(lanes & -lanes);
}

export class Root implements Queue {
  first: Update | null = null;
  last: Update | null = null;
  lanes = 0;
  readonly node = new Node(ROOT, null, null, null);
  readonly surface: Surface;
  readonly output: Output;
  pendingLanes = 0;
  /** Lanes that wait for a promise. */
  suspendedLanes = 0;
  /** Suspended lanes whose promise is settled. */
  pingedLanes = 0;
  /** Lanes of which some render together with others. */
  private entangled = 0;
  /** Lanes that render whenever a lane does, by the number of its bit. As in React, that does not always hold the other way round. */
  private readonly entanglements: number[] = [];
  private wakeables = new WeakMap<Wakeable, number>();
  /** Reference for promises in place of the root: one that is never settled keeps no tree. */
  link: Link = { root: this };
  /** Asynchronous actions of a still root. */
  scope: Scope | null = null;
  /** Time by the surface's clock at which a fallback last appeared, or what it stood for. */
  lastFallback = -Infinity;
  /** Number of commits in a row that left urgent updates. */
  nested = 0;
  /** Number of ids that `useId` has given out. */
  ids = 0;
  /** Boundaries without getDerivedStateFromError that have caught an error in this round of renders. */
  failedBoundaries: Set<unknown> | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  callbacks: (() => void)[] | null = null;
  /** Whether it renders in `flush` alone. */
  readonly isStill: boolean;
  /** Whether layout effects and refs run. */
  readonly hasLayout: boolean;
  readonly options: RootOptions;

  constructor(surface: Surface, output: Output, options: RootOptions) {
    this.surface = surface;
    this.output = output;
    this.options = options;
    const { effects = 'all' } = options;
    this.isStill = effects !== 'all';
    this.hasLayout = effects !== 'none';
    output.manager.tells = this.hasLayout;
    this.node.instance = this;
    this.node.flags = 0;
  }

  render(element: unknown): void {
    markUpdate(this.node, this, new Update(laneOfUpdate(this.node), 0, 0, element));
  }

  /** Lanes to render next; 0 if nothing is due. */
  nextLanes(): number {
    const pending = this.pendingLanes;
    if (pending === 0) return 0;
    const free = pending & ~this.suspendedLanes;
    return highest(free === 0 ? pending & this.pingedLanes : free);
  }

  /** Lets lanes render together from now on, and whenever a lane renders that has brought one of them before. */
  entangle(lanes: number): void {
    const { entanglements } = this;
    this.entangled |= lanes;
    for (let rest = this.entangled; rest !== 0; rest &= rest - 1) {
      const bit = bitOf(rest);
      const others = entanglements[bit] ?? 0;
      if (((others | (1 << bit)) & lanes) !== 0) entanglements[bit] = others | lanes;
    }
  }

  /** Lets lanes render whenever the lane of a deferred value does. */
  pull(lane: number, lanes: number): void {
    this.entangled |= lane;
    const bit = bitOf(lane);
    this.entanglements[bit] = (this.entanglements[bit] ?? 0) | lanes;
  }

  entangledLanes(lanes: number): number {
    let all = lanes;
    for (let rest = this.entangled & lanes; rest !== 0; rest &= rest - 1)
      all |= this.entanglements[bitOf(rest)] ?? 0;
    return all;
  }

  /** Sets the lanes that still wait after a commit. */
  finish(remaining: number): void {
    for (let done = this.pendingLanes & ~remaining; done !== 0; done &= done - 1)
      this.entanglements[bitOf(done)] = 0;
    this.entangled &= remaining;
    this.pendingLanes = remaining;
    this.suspendedLanes = 0;
    this.pingedLanes = 0;
  }

  /** Whether a promise does not ping these lanes yet. */
  pings(wakeable: Wakeable, lanes: number): boolean {
    const before = this.wakeables.get(wakeable) ?? 0;
    this.wakeables.set(wakeable, before | lanes);
    return (before & lanes) !== lanes;
  }

  /** Renders what is due after `wait` milliseconds. */
  delay(wait: number): void {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      // The surface's clock may have stood still.
      this.lastFallback = -Infinity;
      request(this);
    }, wait);
  }

  /** Cuts promises and asynchronous actions off, when the root is unmounted. */
  close(): void {
    this.link.root = null;
    this.link = { root: this };
    this.wakeables = new WeakMap();
    dropOwnScope(this);
  }

  /** Notes an error that no boundary has caught: it is reported when the root is empty. */
  failed(error: unknown): void {
    (this.callbacks ??= []).push(() => this.uncaught(error));
    if ((this.node.flags & CALLBACK) === 0) work.effects.push(this.node);
    this.node.flags |= CALLBACK;
  }

  /** Update that empties the root after an error of a commit. */
  failure(error: unknown, lane: number): Update {
    const update = new Update(lane, 0, 0, null);
    update.callback = () => this.uncaught(error);
    return update;
  }

  /** Tells of an error that a handler of events has thrown. */
  eventFailed(error: unknown): void {
    const { onEventError = report } = this.options;
    try {
      onEventError(error);
    } catch (thrown) {
      report(thrown);
    }
  }

  uncaught(error: unknown): void {
    try {
      if (this.options.onUncaughtError === undefined) report(error);
      else this.options.onUncaughtError(error, { componentStack: '' });
    } catch (thrown) {
      report(thrown);
    }
  }

  waitsFor(wakeable: Wakeable): void {
    this.options.onWait?.(wakeable as unknown as PromiseLike<unknown>);
  }

  onCaughtError(error: unknown, info: ErrorInfo): void {
    if (this.options.onCaughtError !== undefined) this.options.onCaughtError(error, info);
    else console.error(error);
  }
}

/** Renders a root's tree, or an empty one after an error that nothing has caught. */
export function renderRoot(root: Root, failed: boolean): void {
  const { node } = root;
  log(node);
  const before = node.state as unknown;
  settle(root);
  const below = node.childLanes & work.lanes;
  node.lanes &= ~work.lanes;
  node.childLanes &= ~work.lanes;
  if (failed) {
    for (const kid of node.kids) if (kid !== null) deleteNode(kid);
    node.kids = NO_KIDS;
    node.state = null;
  } else if (node.state !== before) reconcile(node, node.state);
  else if (below !== 0) visitKids(node);
  if ((node.flags & CALLBACK) !== 0) work.effects.push(node);
}

function settle(root: Root): void {
  const { node } = root;
  const base = node.hooks as Base | null;
  let rest = take(root);
  root.callbacks = null;
  if (base === null && rest === null) return;
  let state: unknown = base === null ? node.state : base.state;
  let skipped: Update[] | null = null;
  let skippedState: unknown;
  const old = base === null ? 0 : base.updates.length;
  for (let i = 0; i < old || rest !== null; i++) {
    let update: Update;
    if (i < old) update = base!.updates[i]!;
    else {
      update = rest!;
      rest = update.next;
    }
    if ((update.lane & work.lanes) !== update.lane) {
      if (skipped === null) {
        skipped = [];
        skippedState = state;
      }
      skipped.push(update.copy(update.lane, update.callback));
      continue;
    }
    if (skipped !== null) skipped.push(update.copy(0, null));
    state = update.action;
    if (update.callback !== null) {
      (root.callbacks ??= []).push(update.callback as () => void);
      node.flags |= CALLBACK;
    }
  }
  node.state = state;
  node.hooks = skipped === null ? null : ({ state: skippedState, updates: skipped } satisfies Base);
}
