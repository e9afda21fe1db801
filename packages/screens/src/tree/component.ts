/** Function components: a run of the component with its hooks. */
import { hooksError } from './errors.js';
import {
  EFFECT_INSERTION,
  EFFECT_PASSIVE,
  KIND,
  STRIDE,
  at,
  beginContexts,
  endContexts,
} from './hooks/cursor.js';
import { MOUNT, OUTSIDE, UPDATE } from './hooks/dispatchers.js';
import { dropAgain } from './hooks/state.js';
import type { Node } from './node.js';
import { setHooks, type Props } from './react.js';

const RUNS = 25;

/** Result of a component if its props, state and contexts are what they were. */
export const BAILED_OUT: unique symbol = Symbol('bailed out');

/**
 * Runs a function component and keeps its hooks in the node.
 *
 * @returns its children, or BAILED_OUT
 */
export function runComponent(
  node: Node,
  run: (props: Props, ref: unknown) => unknown,
  props: Props,
  ref: unknown,
  mounting: boolean,
  received: boolean,
): unknown {
  const before = node.hooks as unknown[] | null;
  const contextChanged = beginContexts(node);
  dropAgain();
  at.before = before;
  at.hooks = before === null ? [] : before.slice();
  at.index = 0;
  at.flags = 0;
  at.received = received || contextChanged;
  at.again = false;
  at.rerun = false;
  setHooks(before === null ? MOUNT : UPDATE);
  let children = run(props, ref);
  if (at.again) children = runAgain(run, props, ref);
  setHooks(OUTSIDE);
  const { hooks } = at;
  if (at.index !== hooks.length) throw hooksError(node.component, 'Rendered fewer hooks than expected');
  endContexts(node);
  // A component without hooks needs no array.
  if (hooks.length > 0) node.hooks = hooks;
  if (!mounting && !at.received) {
    if (before !== null) keepEffects(hooks, before);
    return BAILED_OUT;
  }
  node.flags |= at.flags;
  return children;
}

function runAgain(run: (props: Props, ref: unknown) => unknown, props: Props, ref: unknown): unknown {
  let children: unknown;
  for (let runs = 0; at.again; runs++) {
    if (runs >= RUNS) throw new Error('Too many re-renders: a component sets its own state in every render.');
    at.again = false;
    at.rerun = true;
    at.index = 0;
    at.flags = 0;
    at.contextIndex = 0;
    setHooks(UPDATE);
    children = run(props, ref);
  }
  return children;
}

/** A component that bails out keeps the effects of its last render that counted. */
function keepEffects(hooks: unknown[], before: readonly unknown[]): void {
  for (let i = 0; i < hooks.length; i += STRIDE) {
    const kind = (hooks[i] as number) & KIND;
    if (kind < EFFECT_INSERTION || kind > EFFECT_PASSIVE) continue;
    hooks[i] = before[i];
    hooks[i + 1] = before[i + 1];
    hooks[i + 2] = before[i + 2];
  }
}
