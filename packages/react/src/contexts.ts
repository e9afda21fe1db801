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

/** Told of every context that a component reads, for as long as it watches. */
export interface Reads {
  read(context: ContextLike): void;
}

let reads: Reads | null = null;

/** Returns who watched before, who is to be put back. */
export function watchReads(next: Reads | null): Reads | null {
  const before = reads;
  reads = next;
  return before;
}

export function readContext(context: ContextLike): unknown {
  if (reads !== null) reads.read(context);
  return readSilently(context);
}

/** Whether a provider of it stands between here and `around`, which is further out. */
export function isProvidedSince(context: ContextLike, around: Provided | null): boolean {
  for (let at = current; at !== null && at !== around; at = at.parent) {
    if (at.context === context) return true;
  }
  return false;
}

/** On behalf of nobody: what is rendered does not depend on it. */
export function readSilently(context: ContextLike): unknown {
  return second ? context._currentValue2 : context._currentValue;
}

function write(context: ContextLike, value: unknown): void {
  if (second) context._currentValue2 = value;
  else context._currentValue = value;
}

export function provide(context: ContextLike, value: unknown): Provided {
  const depth = current === null ? 0 : current.depth + 1;
  current = { parent: current, depth, context, before: readSilently(context), value };
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
  readonly reads: Reads | null;
}

/** Another renderer's run begins: nothing of the present one may be seen by it, unless it has a field of its own. */
export function enterContexts(useSecond: boolean): ContextState {
  const state = { second, current, reads: watchReads(null) };
  if (useSecond === second) switchContexts(null);
  else {
    second = useSecond;
    current = null;
  }
  return state;
}

export function leaveContexts(state: ContextState): void {
  reads = state.reads;
  switchContexts(null);
  if (state.second === second) switchContexts(state.current);
  else {
    second = state.second;
    current = state.current;
  }
}
