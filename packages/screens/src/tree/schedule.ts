/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Schedule: when what is rendered. Urgent updates render in a microtask or at once, the others later. */
import { asynchronousLane, ownLane } from './actions.js';
import { commitRoot, flushPassiveEffects, hasPassiveEffects } from './commit/commit.js';
import { deletePassive } from './commit/deletion.js';
import { ABANDONED, forgetSuspended, report, wakeableOf, type Wakeable } from './errors.js';
import {
  DEFAULT,
  DEFERRED,
  FIRST_DEFERRED,
  FIRST_TRANSITION,
  RETRY,
  SYNC,
  TRANSITIONS,
  UPDATES,
  URGENT,
} from './lanes.js';
import { GONE, ROOT, enqueue, type Node, type Queue, type Update } from './node.js';
import { setHooks, setTransition, transition } from './react.js';
import { collectLanes } from './render.js';
import { renderRoot, type Root } from './root.js';
import { forgetComponent } from './hooks/cursor.js';
import { OUTSIDE } from './hooks/dispatchers.js';
import type { BoundaryData } from './suspense.js';
import { Mark, forgetRender, keep, rollback, work } from './work.js';

const NESTED_UPDATES = 50;
/** Milliseconds between a fallback's appearance and that of what it stood for. */
const FALLBACK_THROTTLE = 300;

/** Roots in which something waits. */
const roots = new Set<Root>();
/** Updates that came while a render ran. */
const staged: { node: Node; queue: Queue | null; update: Update | null; lane: number }[] = [];
let eventLane = 0;
let batches = 0;
let microtask = false;
let task = false;
let flushing = false;
/** Root whose updates never seem to end. */
let endless: Root | null = null;
let nextTransition = FIRST_TRANSITION;
let eventTransition = 0;
/** Whether a root was scheduled since transitions got their lane. */
let scheduled = false;
let nextDeferred = FIRST_DEFERRED;
/** Root whose event or commit runs the app's code. */
let actor: Root | null = null;

/** Lane of an update of this node that is made now. */
export function laneOfUpdate(node: Node): number {
  if (work.rendering) return work.rootLanes & -work.rootLanes;
  if (transition() !== null) return transitionLane(node);
  return eventLane === 0 ? DEFAULT : eventLane;
}

/** Lane of the transition that runs: one for all that begin in the same event, but that of the actions of the node's own root goes first. */
export function transitionLane(node: Node | null): number {
  const own = node === null ? 0 : ownLane(node);
  if (own !== 0) return own;
  if (eventTransition === 0) {
    eventTransition = asynchronousLane();
    if (eventTransition === 0) {
      eventTransition = nextTransition;
      nextTransition <<= 1;
      if ((nextTransition & TRANSITIONS) === 0) nextTransition = FIRST_TRANSITION;
    }
  }
  return eventTransition;
}

/** Lane in which the value that a node shows for now is replaced by the new one. */
export function deferredLane(node: Node): void {
  if (work.deferredLane === 0) {
    work.deferredLane = nextDeferred;
    nextDeferred <<= 1;
    if ((nextDeferred & DEFERRED) === 0) nextDeferred = FIRST_DEFERRED;
  }
  const lane = work.deferredLane;
  node.lanes |= lane;
  for (let up = node.parent; up !== null; up = up.parent) up.childLanes |= lane;
  if (work.boundary !== null) (work.boundary.data as BoundaryData).deferred = lane;
}

/** Runs work as one event of this lane and root, and renders at its end what is due. */
export function batch<T>(lane: number, root: Root, run: () => T): T {
  const before = eventLane;
  const outer = setActor(root);
  eventLane = lane;
  batches++;
  try {
    return run();
  } finally {
    batches--;
    eventLane = before;
    actor = outer;
    if (batches === 0 && !work.rendering && !work.committing) flushUrgent();
  }
}

/** Sets the lane of updates while a phase of a commit runs; returns what it was. */
export function setEventLane(lane: number): number {
  const before = eventLane;
  eventLane = lane;
  return before;
}

/** Root whose event or commit runs the app's code; null for none that is known. */
export function actingRoot(): Root | null {
  return actor;
}

export function setActor(root: Root | null): Root | null {
  const before = actor;
  actor = root;
  return before;
}

/** Root of a node; null if the node has left the tree. */
export function rootOf(node: Node): Root | null {
  let up = node;
  while (up.kind !== ROOT) {
    if ((up.flags & GONE) !== 0 || up.parent === null) return null;
    up = up.parent;
  }
  return up.instance as Root;
}

/** Adds an update, or a lane alone, to a node, and schedules the render. */
export function markUpdate(node: Node, queue: Queue | null, update: Update | number): void {
  if ((node.flags & GONE) !== 0) return;
  const lane = typeof update === 'number' ? update : update.lane;
  if (endless !== null && rootOf(node) === endless) {
    endless.nested = 0;
    endless = null;
    throw new Error(
      'Maximum update depth exceeded: a component sets state in an effect or life cycle whenever it is updated.',
    );
  }
  const own = typeof update === 'number' ? null : update;
  if (work.rendering) {
    staged.push({ node, queue, update: own, lane });
    node.lanes |= lane;
    const root = rootOf(node);
    if (root !== null) schedule(root, lane);
    return;
  }
  const root = mark(node, queue, own, lane);
  if (root === null) return;
  if (queue !== null) entangle(root, queue, lane);
  schedule(root, lane);
}

function mark(node: Node, queue: Queue | null, update: Update | null, lane: number): Root | null {
  if (queue !== null && update !== null) enqueue(queue, update);
  node.lanes |= lane;
  let up = node;
  while (up.kind !== ROOT) {
    if ((up.flags & GONE) !== 0 || up.parent === null) return null;
    up = up.parent;
    up.childLanes |= lane;
  }
  return up.instance as Root;
}

function applyStaged(): void {
  for (const { node, queue, update, lane } of staged) {
    const root = mark(node, queue, update, lane);
    if (root !== null) {
      if (queue !== null) entangle(root, queue, lane);
      root.pendingLanes |= lane;
    }
  }
  staged.length = 0;
}

/** Transitions that update the same state render together. */
function entangle(root: Root, queue: Queue, lane: number): void {
  if ((lane & (TRANSITIONS | DEFERRED)) === 0) return;
  const lanes = (queue.lanes & root.pendingLanes) | lane;
  queue.lanes = lanes;
  if (lanes !== lane) root.entangle(lanes);
}

export function schedule(root: Root, lane: number): void {
  root.pendingLanes |= lane;
  root.suspendedLanes = 0;
  root.pingedLanes = 0;
  request(root);
}

export function request(root: Root): void {
  if (root.isStill) return;
  roots.add(root);
  scheduled = true;
  requestMicrotask();
}

function requestMicrotask(): void {
  if (microtask) return;
  microtask = true;
  queueMicrotask(inMicrotask);
}

/** Transitions that begin from now on get another lane. */
function endEvent(): void {
  if (scheduled) eventTransition = 0;
  scheduled = false;
}

function inMicrotask(): void {
  microtask = false;
  endEvent();
  if (batches > 0 || work.rendering || work.committing) return;
  try {
    flushUrgent();
  } finally {
    // What one root throws holds up no other.
    requestTask();
  }
}

/** Schedules what is not urgent, if there is any. */
function requestTask(): void {
  if (task) return;
  let due = hasPassiveEffects();
  for (const root of roots) if (root.nextLanes() !== 0) due = true;
  if (!due) return;
  task = true;
  setTimeout(inTask, 0);
}

function inTask(): void {
  task = false;
  if (work.rendering || work.committing) return;
  try {
    if (flushPassive()) flushUrgent();
    else for (const root of roots) if (performNext(root, ~0, false)) break;
  } finally {
    requestTask();
  }
}

/** Renders all urgent updates that are due, and those that come of it. */
export function flushUrgent(): void {
  flushLanes(URGENT, false);
}

/** Renders all that is due, whatever its lane, and runs all effects; nothing in a render or an effect, whose end does. */
export function flushAll(): void {
  if (isBusy()) return;
  endEvent();
  do flushLanes(~0, true);
  while (flushPassive());
  endEvent();
}

/**
 * Renders all of one root that is due.
 *
 * @throws An error in a render or an effect: the root would seem to be rendered.
 */
export function flushRoot(root: Root): void {
  if (isBusy()) throw new Error('A root cannot be flushed while a render or an effect runs');
  // Its events end here.
  eventTransition = 0;
  while (performNext(root, ~0, true));
}

/** Renders a root that was emptied; in a render or an effect, right after it. */
export function flushUnmount(root: Root): void {
  if (isBusy()) roots.add(root);
  else if (root.isStill) {
    const { kids } = root.node;
    flushRoot(root);
    // No passive phase does it.
    for (const kid of kids) if (kid !== null && (kid.flags & GONE) !== 0) deletePassive(kid, null);
  } else flushAll();
  // The last render holds the tree.
  if (isBusy()) return;
  forgetRender();
  forgetComponent();
}

function isBusy(): boolean {
  return work.rendering || work.committing;
}

function flushLanes(lanes: number, now: boolean): void {
  if (flushing) return;
  flushing = true;
  try {
    let more = true;
    while (more) {
      more = false;
      for (const root of roots) if (performNext(root, lanes, now)) more = true;
    }
  } finally {
    flushing = false;
  }
}

/** Renders a root's next lanes if they are among `allowed`; true if it did, or ran effects in their stead. */
function performNext(root: Root, allowed: number, now: boolean): boolean {
  const lanes = root.nextLanes();
  if (lanes === 0) {
    if (root.pendingLanes === 0) roots.delete(root);
    return false;
  }
  if ((lanes & allowed) === 0) return false;
  if (flushPassive()) return true;
  if (!now && (lanes & RETRY) === lanes) {
    const wait = root.lastFallback + FALLBACK_THROTTLE - root.surface.now();
    if (wait > 10) {
      root.delay(Math.min(wait, FALLBACK_THROTTLE));
      return false;
    }
  }
  perform(root, lanes);
  return true;
}

export function flushPassive(): boolean {
  if (isBusy() || !hasPassiveEffects()) return false;
  const before = transition();
  const lane = setEventLane(DEFAULT);
  setTransition(null);
  work.committing = true;
  try {
    flushPassiveEffects();
  } finally {
    work.committing = false;
    setEventLane(lane);
    setTransition(before);
  }
  if (!flushing) flushLanes(SYNC, false);
  return true;
}

/** Notes that a fallback of the root that commits has appeared, or what it stood for. */
export function noteFallback(now: number): void {
  work.root!.lastFallback = now;
}

function perform(root: Root, lanes: number): void {
  if (isBusy()) throw new Error('A render cannot begin while another one runs');
  let given = lanes;
  let mark = begin(root, given);
  const hooks = setHooks(OUTSIDE);
  let uncaught: unknown = null;
  let failed = false;
  try {
    for (;;) {
      try {
        renderRoot(root, failed);
        break;
      } catch (thrown) {
        rollback(mark);
        const wakeable = wakeableOf(thrown);
        if (thrown === ABANDONED || wakeable !== null) {
          if (wakeable !== null) pingWhen(wakeable, given);
          abandon(root, given);
          return;
        }
        if (!work.recovering) {
          // What failed may have seen data of two moments. Once more, with all that waits.
          given = root.pendingLanes;
          mark = begin(root, given);
          work.recovering = true;
        } else if (failed) throw thrown;
        else {
          failed = true;
          uncaught = thrown;
        }
      }
    }
  } finally {
    setHooks(hooks);
    work.rendering = false;
    work.recovering = false;
    forgetSuspended();
  }
  keep();
  applyStaged();
  if (failed) root.failed(uncaught);
  commit(root, given);
}

function begin(root: Root, lanes: number): Mark {
  work.root = root;
  work.count++;
  work.rootLanes = lanes;
  work.lanes = root.entangledLanes(lanes);
  work.rendering = true;
  work.host = root.node;
  work.shell = null;
  work.boundary = null;
  work.revealing = 0;
  work.deferredLane = 0;
  work.met.length = 0;
  work.early = false;
  work.dropped = false;
  return new Mark();
}

/** Leaves the screen as it is until what the render waits for has arrived. */
function abandon(root: Root, lanes: number): void {
  keep();
  applyStaged();
  const suspended = root.entangledLanes(lanes);
  root.suspendedLanes |= suspended;
  root.pingedLanes &= ~suspended;
  const lane = work.deferredLane;
  if (lane === 0) return;
  // The deferred values can be tried with the new state, too.
  root.pendingLanes |= lane;
  root.suspendedLanes &= ~lane;
  root.pull(lane, suspended & UPDATES);
}

function commit(root: Root, lanes: number): void {
  if (work.dropped) collectLanes(root.node);
  root.finish(root.node.lanes | root.node.childLanes);
  const deferred = work.deferredLane;
  if (deferred !== 0) {
    root.pendingLanes |= deferred;
    root.pull(deferred, 0);
  }
  const before = transition();
  const lane = setEventLane(SYNC);
  const outer = setActor(root);
  setTransition(null);
  work.committing = true;
  try {
    commitRoot(root);
  } finally {
    work.committing = false;
    actor = outer;
    setEventLane(lane);
    setTransition(before);
  }
  if (root.pendingLanes === 0) root.failedBoundaries?.clear();
  if ((lanes & SYNC) !== 0) flushPassive();
  if ((lanes & UPDATES) !== 0 && (root.pendingLanes & URGENT) !== 0) {
    if (root.nested++ > NESTED_UPDATES) endless = root;
  } else {
    root.nested = 0;
    if (endless === root) endless = null;
  }
  request(root);
  if (!flushing) flushLanes(SYNC, false);
  if (hasPassiveEffects()) requestTask();
}

/** Renders the lanes again once a promise is settled, if they are still suspended then. */
export function pingWhen(wakeable: Wakeable, lanes: number): void {
  const root = work.root!;
  root.waitsFor(wakeable);
  const { link } = root;
  const ping = (): void => {
    const { root: pinged } = link;
    if (pinged === null) return;
    pinged.pingedLanes |= pinged.suspendedLanes & lanes;
    request(pinged);
  };
  if (root.pings(wakeable, lanes)) wakeable.then(ping, ping);
}

/** Renders a boundary again once a promise is settled. */
export function retryWhen(node: Node, wakeable: Wakeable): void {
  const data = node.data as BoundaryData;
  const { listened } = data;
  if (listened.has(wakeable)) return;
  listened.add(wakeable);
  data.node = node;
  // Holds no node: the promise may outlive them.
  const retry = (): void => {
    listened.delete(wakeable);
    if (data.node !== null) markUpdate(data.node, null, RETRY);
  };
  wakeable.then(retry, retry);
}

/** Reports an error that a boundary has caught. */
export function onCaught(node: Node, error: unknown): void {
  const root = rootOf(node);
  try {
    root?.onCaughtError(error, { componentStack: '', errorBoundary: node.instance });
  } catch (reported) {
    report(reported);
  }
}
