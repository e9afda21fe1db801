/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** State: useState, useReducer and the queues behind them. */
import { asynchronousAction, isAsynchronousLane } from '../actions.js';
import { SYNC } from '../lanes.js';
import { GONE, Update, enqueue, type Base, type Node, type Queue } from '../node.js';
import { laneOfUpdate, markUpdate, transitionLane } from '../schedule.js';
import { take, work } from '../work.js';
import { STATE, STRIDE, at, next } from './cursor.js';

export type Reducer = (state: unknown, action: unknown) => unknown;
export type Dispatch = (action: unknown) => void;
export type Pair = readonly [unknown, Dispatch];

export class StateQueue implements Queue {
  declare first: Update | null;
  declare last: Update | null;
  declare lanes: number;
  declare readonly node: Node;
  /** Index of the hook's slots. */
  declare readonly index: number;
  /** Whether the reducer is that of `useState`: only then an equal state needs no render. */
  declare readonly basic: boolean;
  declare dispatch: Dispatch | null;
  /** Updates from the component's own render, for its next run. */
  declare again: unknown[] | null;

  constructor(node: Node, index: number, basic: boolean) {
    this.first = null;
    this.last = null;
    this.lanes = 0;
    this.node = node;
    this.index = index;
    this.basic = basic;
    this.dispatch = null;
    this.again = null;
  }
}

export function basicReducer(state: unknown, action: unknown): unknown {
  return typeof action === 'function' ? (action as (state: unknown) => unknown)(state) : action;
}

/** Adds a hook with state; returns its queue, whose `dispatch` is not set yet. */
export function addState(value: unknown, basic: boolean): StateQueue {
  const index = at.index;
  at.index = index + STRIDE;
  const queue = new StateQueue(at.node, index, basic);
  at.hooks.push(STATE, undefined, queue, null);
  setValue(at.hooks, index, queue, value);
  return queue;
}

function setValue(hooks: unknown[], index: number, queue: StateQueue, value: unknown): Pair {
  const pair: Pair = [value, queue.dispatch as Dispatch];
  hooks[index + 1] = pair;
  return pair;
}

export function mountState(initial: unknown): Pair {
  const value = typeof initial === 'function' ? (initial as () => unknown)() : initial;
  const queue = addState(value, true);
  const dispatch: Dispatch = (action) => setState(queue, action, laneOfUpdate(queue.node));
  queue.dispatch = dispatch;
  return setValue(at.hooks, queue.index, queue, value);
}

export function mountReducer(_reducer: Reducer, initial: unknown, init?: (value: unknown) => unknown): Pair {
  const value = init === undefined ? initial : init(initial);
  const queue = addState(value, false);
  const dispatch: Dispatch = (action) => setState(queue, action, laneOfUpdate(queue.node));
  queue.dispatch = dispatch;
  return setValue(at.hooks, queue.index, queue, value);
}

export function updateState(): Pair {
  return updateReducer(basicReducer);
}

export function updateReducer(reducer: Reducer): Pair {
  const index = next(STATE);
  const { hooks } = at;
  const queue = hooks[index + 2] as StateQueue;
  if (queue.first === null && queue.again === null && hooks[index + 3] === null) {
    if (!at.rerun) queue.lanes = 0;
    return hooks[index + 1] as Pair;
  }
  return process(index, queue, reducer, null);
}

/** State after all updates of this render's lanes. `passthrough` replaces the base state (useOptimistic). */
export function process(
  index: number,
  queue: StateQueue,
  reducer: Reducer,
  passthrough: { readonly value: unknown } | null,
): Pair {
  const { hooks } = at;
  const pair = hooks[index + 1] as Pair;
  if (at.rerun) return processAgain(index, queue, reducer, pair);
  const base = hooks[index + 3] as Base | null;
  let state = passthrough !== null ? passthrough.value : base === null ? pair[0] : base.state;
  const { lanes } = work;
  let skipped: Update[] | null = null;
  let skippedState: unknown;
  let asynchronous = false;
  let rest: Update | null = take(queue);
  const old = base === null ? 0 : base.updates.length;
  for (let i = 0; i < old || rest !== null; i++) {
    let update: Update;
    if (i < old) update = base!.updates[i]!;
    else {
      update = rest!;
      rest = update.next;
    }
    if ((update.lane & lanes) !== update.lane) {
      if (skipped === null) {
        skipped = [];
        skippedState = state;
      }
      skipped.push(update.copy(update.lane, null));
      at.node.lanes |= update.lane;
      markAbove(at.node, update.lane);
      continue;
    }
    if (update.revert === 0) {
      if (skipped !== null) skipped.push(update.copy(0, null));
      if (isAsynchronousLane(update.lane)) asynchronous = true;
    } else if ((update.revert & lanes) === update.revert) {
      // The transition that this update went ahead of is in this render.
      if (isAsynchronousLane(update.revert)) asynchronous = true;
      continue;
    } else {
      if (skipped === null) {
        skipped = [];
        skippedState = state;
      }
      skipped.push(update.copy(0, null));
      at.node.lanes |= update.revert;
      markAbove(at.node, update.revert);
    }
    state = update.eager ? update.state : reducer(state, update.action);
  }
  hooks[index + 3] = skipped === null ? null : ({ state: skippedState, updates: skipped } satisfies Base);
  if (Object.is(state, pair[0])) return pair;
  at.received = true;
  // While an asynchronous action runs, what it has set is not shown.
  if (asynchronous) asynchronousAction();
  return setValue(hooks, index, queue, state);
}

function markAbove(node: Node, lane: number): void {
  for (let up = node.parent; up !== null; up = up.parent) up.childLanes |= lane;
}

function processAgain(index: number, queue: StateQueue, reducer: Reducer, pair: Pair): Pair {
  const actions = queue.again;
  if (actions === null) return pair;
  queue.again = null;
  let state = pair[0];
  for (const action of actions) state = reducer(state, action);
  if (Object.is(state, pair[0])) return pair;
  at.received = true;
  return setValue(at.hooks, index, queue, state);
}

/**
 * Whether React's other copy of the node still has the lanes of its last updates, so that React renders one more time although the state is equal.
 * That decides in which order later updates of other lanes apply.
 */
function isStale(node: Node): boolean {
  return node.used !== 0 && (node.parent === null || node.parent.entered <= node.used);
}

/** Adds an update, or applies it in the component's next run if it is the one that renders. */
export function setState(queue: StateQueue, action: unknown, lane: number): void {
  const { node } = queue;
  if (work.rendering && at.active && at.node === node) {
    at.again = true;
    if (queue.again === null) {
      queue.again = [];
      again.push(queue);
    }
    queue.again.push(action);
    return;
  }
  if ((node.flags & GONE) !== 0) return;
  const update = new Update(lane, 0, 0, action);
  if (queue.basic && node.lanes === 0 && !work.rendering && node.hooks !== null && !isStale(node)) {
    const value = (node.hooks[queue.index + 1] as Pair)[0];
    try {
      const state = basicReducer(value, action);
      update.eager = true;
      update.state = state;
      if (Object.is(state, value)) {
        // No render for it, but its turn among others in the next one. Many of the same are one.
        const { last } = queue;
        if (last === null || last.lane !== lane || !last.eager || !Object.is(last.state, state))
          enqueue(queue, update);
        return;
      }
    } catch {
      // The render meets the same error, where a boundary can catch it.
    }
  }
  markUpdate(node, queue, update);
}

/** Shows `action` at once; the transition that runs takes it back. */
export function setOptimistic(queue: StateQueue, action: unknown): void {
  const { node } = queue;
  if (work.rendering && at.active && at.node === node)
    throw new Error('Cannot update optimistic state while rendering.');
  const update = new Update(SYNC, transitionLane(node), 0, action);
  markUpdate(node, queue, update);
}

/** Queues with updates for the next run of the component that renders. */
const again: StateQueue[] = [];

/** Drops the updates that a component made to itself before it threw. */
export function dropAgain(): void {
  if (again.length === 0) return;
  for (const queue of again) queue.again = null;
  again.length = 0;
}
