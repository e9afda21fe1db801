/**
 * React contexts. Values stand in the context objects themselves, where `useContext` of any code reads them; a linked list of
 * what was provided allows to leave one task's values for another's.
 */
import type { ContextLike } from './react.js';

export interface Provided {
  readonly parent: Provided | null;
  readonly depth: number;
  readonly context: ContextLike;
  readonly before: unknown;
  readonly value: unknown;
}

/**
 * react-dom's string renderer keeps its values in another field than its stream renderer, so that one may run within the other. Whoever
 * renders a string in a component of a streamed page relies on it.
 */
let second = false;
let current: Provided | null = null;

export function readContext(context: ContextLike): unknown {
  return second ? context._currentValue2 : context._currentValue;
}

function write(context: ContextLike, value: unknown): void {
  if (second) context._currentValue2 = value;
  else context._currentValue = value;
}

export function provide(context: ContextLike, value: unknown): Provided {
  const depth = current === null ? 0 : current.depth + 1;
  current = { parent: current, depth, context, before: readContext(context), value };
  write(context, value);
  return current;
}

/** Leaves the innermost provider; returns the one around it. */
export function unprovide(): Provided | null {
  if (current === null) {
    throw new Error('Tried to pop a Context at the root of the app. This is a bug in React.');
  }
  write(current.context, current.before);
  current = current.parent;
  return current;
}

/** From whatever is provided now to `next`, touching only where they differ. */
export function switchContexts(next: Provided | null): void {
  if (current === next) return;
  let common = next;
  let from = current;
  while (from !== common) {
    if (from !== null && (common === null || from.depth >= common.depth)) {
      write(from.context, from.before);
      const sameDepth = common !== null && common.depth === from.depth;
      from = from.parent;
      if (sameDepth && common !== null) common = common.parent;
    } else if (common !== null) {
      common = common.parent;
    }
  }
  enter(next, common);
  current = next;
}

function enter(next: Provided | null, until: Provided | null): void {
  if (next === until || next === null) return;
  enter(next.parent, until);
  write(next.context, next.value);
}

export interface ContextState {
  readonly second: boolean;
  readonly current: Provided | null;
}

/** Another renderer's run begins: nothing of the present one may be seen by it, unless it has a field of its own. */
export function enterContexts(useSecond: boolean): ContextState {
  const state = { second, current };
  if (useSecond === second) switchContexts(null);
  else {
    second = useSecond;
    current = null;
  }
  return state;
}

export function leaveContexts(state: ContextState): void {
  switchContexts(null);
  if (state.second === second) switchContexts(state.current);
  else {
    second = state.second;
    current = state.current;
  }
}
