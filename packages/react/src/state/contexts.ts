/**
 * React contexts. Each context has a place of this renderer's own for its value; a linked list of provided values allows to switch
 * from one task's values to another's. React's own places, which react-dom uses, are neither read nor written during a render.
 * react-dom leaves the values of its last task in them until its next one, and takes them back in the middle of other work.
 */
import { CONTEXT, React, ReactDOMServer, type ContextLike } from '../facts/react.js';

const OWN = Symbol('sluice.react.context');

interface OwnContext extends ContextLike {
  /** Value that a component reads now; without a provider, the default of `createContext`. */
  [OWN]?: { value: unknown };
}

function placeOf(context: OwnContext): { value: unknown } {
  return (context[OWN] ??= { value: defaultOf(context) });
}

/** A context of the renderer's own. */
export function contextWith(value: unknown): ContextLike {
  return { $$typeof: CONTEXT, [OWN]: { value } } as OwnContext;
}

/**
 * Returns the value that react-dom reads outside of every provider. Asked of it, because React keeps it nowhere once
 * something is provided.
 */
function defaultOf(context: ContextLike): unknown {
  let value: unknown;
  const Reads = (): null => {
    value = React.useContext(context as never);
    return null;
  };
  ReactDOMServer.renderToStaticMarkup(React.createElement(Reads));
  return value;
}

export interface Provided {
  readonly parent: Provided | null;
  readonly depth: number;
  readonly context: ContextLike;
  readonly before: unknown;
  readonly value: unknown;
}

let current: Provided | null = null;

/** Listener for every context that a component reads, for as long as it watches. */
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

/** Reads on behalf of nobody: what is rendered does not depend on it. */
export function readSilently(context: ContextLike): unknown {
  return placeOf(context).value;
}

function write(context: ContextLike, value: unknown): void {
  placeOf(context).value = value;
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

/** Switches from the values provided now to `next`, touching only where they differ. */
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
  readonly current: Provided | null;
  readonly reads: Reads | null;
}

/** Another run begins, perhaps within a component of the present one, of which it must see nothing. */
export function enterContexts(): ContextState {
  const state = { current, reads: watchReads(null) };
  switchContexts(null);
  return state;
}

export function leaveContexts(state: ContextState): void {
  reads = state.reads;
  switchContexts(state.current);
}
