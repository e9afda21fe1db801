/* oxlint-disable unicorn/no-thenable -- React waits for what acts like a promise */
/** Transitions and actions: useTransition, useOptimistic, useActionState. */
import { actionReturned } from '../actions.js';
import { isThenable, read, type Wakeable } from '../errors.js';
import { setTransition, transition, type Transition } from '../react.js';
import type { Node } from '../node.js';
import { laneOfUpdate } from '../schedule.js';
import { work } from '../work.js';
import { STATE, VALUE, at, next } from './cursor.js';
import { mountQuietEffect, updateEffectIf } from './effects.js';
import {
  addState,
  basicReducer,
  process,
  setOptimistic,
  setState,
  updateState,
  type Dispatch,
  type Pair,
  type Reducer,
  type StateQueue,
} from './state.js';
import { mountValue } from './values.js';

/** Promise for `value` that is settled when `after` is. */
function valueAfter(after: Wakeable, value: unknown): Wakeable {
  const listeners: ((value: unknown) => void)[] = [];
  const chained: Wakeable = {
    status: 'pending',
    then(resolve) {
      listeners.push(resolve);
    },
  };
  after.then(
    () => {
      chained.status = 'fulfilled';
      chained.value = value;
      for (const listener of listeners) listener(value);
    },
    (reason: unknown) => {
      chained.status = 'rejected';
      chained.reason = reason;
      for (const listener of listeners) listener(undefined);
    },
  );
  return chained;
}

function startTransition(queue: StateQueue, run: () => unknown): void {
  const outer = transition();
  const own: Transition = { types: outer === null ? null : (outer.types ?? null) };
  setTransition(own);
  setOptimistic(queue, true);
  try {
    const result = run();
    actionReturned(queue.node, own, result);
    setState(queue, isThenable(result) ? valueAfter(result, false) : false, laneOfUpdate(queue.node));
  } catch (reason) {
    setState(queue, { then() {}, status: 'rejected', reason }, laneOfUpdate(queue.node));
  } finally {
    setTransition(outer);
  }
}

type Start = (run: () => unknown) => void;

export function mountTransition(): readonly [boolean, Start] {
  const queue = addState(false, true);
  const start: Start = (run) => startTransition(queue, run);
  mountValue(start);
  return [false, start];
}

export function updateTransition(): readonly [boolean, Start] {
  const state = updateState()[0];
  const pending = typeof state === 'boolean' ? state : (read(state as Wakeable) as boolean);
  return [pending, at.hooks[next(VALUE) + 1] as Start];
}

export function mountOptimistic(value: unknown): Pair {
  const queue = addState(value, false);
  const dispatch: Dispatch = (action) => setOptimistic(queue, action);
  queue.dispatch = dispatch;
  const pair: Pair = [value, dispatch];
  at.hooks[queue.index + 1] = pair;
  return pair;
}

export function updateOptimistic(value: unknown, reducer?: Reducer): Pair {
  const index = next(STATE);
  const queue = at.hooks[index + 2] as StateQueue;
  return process(index, queue, typeof reducer === 'function' ? reducer : basicReducer, { value });
}

type Action = (state: unknown, payload: unknown) => unknown;

/** A call of an action, as the state that it will give. */
class Call implements Wakeable {
  status = 'pending';
  value: unknown = null;
  reason: unknown = null;
  next: Call | null = null;
  readonly action: Action;
  readonly payload: unknown;
  readonly inTransition: boolean;
  readonly listeners: ((value: unknown) => void)[] = [];

  constructor(action: Action, payload: unknown, inTransition: boolean) {
    this.action = action;
    this.payload = payload;
    this.inTransition = inTransition;
  }

  then(resolve: (value: unknown) => void): void {
    this.listeners.push(resolve);
  }

  settled(): void {
    for (const listener of this.listeners) listener(undefined);
  }
}

/** Calls of one useActionState, one after another. */
class Actions {
  readonly node: Node;
  state: unknown;
  action: Action | null;
  first: Call | null = null;
  last: Call | null = null;

  constructor(node: Node, state: unknown, action: Action) {
    this.node = node;
    this.state = state;
    this.action = action;
  }

  add(call: Call): void {
    if (this.last === null) {
      this.first = this.last = call;
      this.run(call);
    } else {
      this.last.next = call;
      this.last = call;
    }
  }

  private run(call: Call): void {
    const outer = transition();
    const own: Transition = { types: outer === null ? null : (outer.types ?? null) };
    if (call.inTransition) setTransition(own);
    try {
      const result = call.action(this.state, call.payload);
      if (call.inTransition) actionReturned(this.node, own, result);
      if (isThenable(result))
        result.then(
          (state) => this.done(call, state),
          (reason: unknown) => this.failed(reason),
        );
      else this.done(call, result);
    } catch (reason) {
      this.failed(reason);
    } finally {
      if (call.inTransition) setTransition(outer);
    }
  }

  private done(call: Call, state: unknown): void {
    call.status = 'fulfilled';
    call.value = state;
    call.settled();
    this.state = state;
    this.first = call.next;
    if (this.first === null) this.last = null;
    else this.run(this.first);
  }

  private failed(reason: unknown): void {
    let call = this.first;
    this.first = this.last = null;
    this.action = null;
    for (; call !== null; call = call.next) {
      call.status = 'rejected';
      call.reason = reason;
      call.settled();
    }
  }
}

const takeNew: Reducer = (_state, action) => action;

export function mountActionState(action: Action, initial: unknown): readonly [unknown, Dispatch, boolean] {
  const { node } = at;
  const stateQueue = addState(initial, false);
  const pendingQueue = addState(false, true);
  const actions = new Actions(node, initial, action);
  const dispatch: Dispatch = (payload) => {
    if (work.rendering && at.active && at.node === node)
      throw new Error('Cannot update action state while rendering.');
    if (actions.action === null) return;
    const inTransition = transition() !== null;
    const call = new Call(actions.action, payload, inTransition);
    if (inTransition) setOptimistic(pendingQueue, true);
    setState(stateQueue, call, laneOfUpdate(node));
    actions.add(call);
  };
  mountValue({ actions, dispatch, action });
  mountQuietEffect(() => {});
  return [initial, dispatch, false];
}

export function updateActionState(action: Action): readonly [unknown, Dispatch, boolean] {
  const index = next(STATE);
  const raw = process(index, at.hooks[index + 2] as StateQueue, takeNew, null)[0];
  const pending = updateState()[0] as boolean;
  const state = isThenable(raw) ? read(raw) : raw;
  const holder = at.hooks[next(VALUE) + 1] as { actions: Actions; dispatch: Dispatch; action: Action };
  updateEffectIf(action !== holder.action, () => {
    holder.action = action;
    holder.actions.action = action;
  });
  return [state, holder.dispatch, pending];
}
