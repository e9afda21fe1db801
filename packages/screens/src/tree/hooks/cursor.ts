/** Cursor: the component that renders, and its next hook. Hooks are STRIDE slots each in one array. */
import { hooksError } from '../errors.js';
import type { Node } from '../node.js';
import type { Context } from '../react.js';

export const STRIDE = 4;

// First slot of a hook: its kind.
/** Pair of value and dispatch, StateQueue, Base or null. */
export const STATE = 1;
/** Value, dependencies. */
export const MEMO = 2;
/** One value that stays. */
export const VALUE = 3;
/** Function of the app, dependencies, cleanup. */
export const EFFECT_INSERTION = 4;
export const EFFECT_LAYOUT = 5;
export const EFFECT_PASSIVE = 6;
/** Value of the last render that was not deferred. */
export const DEFERRED_VALUE = 7;
/** Holder of the function, next function. */
export const EVENT = 8;
/** Snapshot, StoreInstance. */
export const STORE = 9;
export const KIND = 15;
/** The effect runs in the next commit. */
export const FIRE = 16;

interface Cursor {
  node: Node;
  // oxlint-disable-next-line typescript/no-explicit-any -- slots of mixed types
  hooks: any[];
  /** Slots of the render before; null in a first one. */
  // oxlint-disable-next-line typescript/no-explicit-any -- slots of mixed types
  before: any[] | null;
  index: number;
  /** Flags for the node, if it does not bail out. */
  flags: number;
  /** Whether anything that the component reads has changed. */
  received: boolean;
  /** Whether the component has set its own state while it rendered. */
  again: boolean;
  /** Whether this is a run after such an update. */
  rerun: boolean;
  active: boolean;
  contexts: readonly unknown[] | null;
  contextIndex: number;
}

export const at: Cursor = {
  node: null as unknown as Node,
  hooks: [],
  before: null,
  index: 0,
  flags: 0,
  received: false,
  again: false,
  rerun: false,
  active: false,
  contexts: null,
  contextIndex: 0,
};

/** Drops the component that rendered last, with its hooks. */
export function forgetComponent(): void {
  at.node = null as unknown as Node;
  at.hooks = [];
  at.before = null;
  at.contexts = null;
}

/** Moves to the next hook and returns the index of its slots. */
export function next(kind: number): number {
  const index = at.index;
  at.index = index + STRIDE;
  if (((at.hooks[index] as number) & KIND) !== kind)
    throw hooksError(
      at.node.component,
      index >= at.hooks.length
        ? 'Rendered more hooks than during the previous render'
        : 'A hook is not of the kind that it was in the previous render',
    );
  return index;
}

export function sameDeps(
  before: readonly unknown[] | null,
  now: readonly unknown[] | null | undefined,
): boolean {
  if (before === null || now === null || now === undefined) return false;
  const length = Math.min(before.length, now.length);
  for (let i = 0; i < length; i++) if (!Object.is(before[i], now[i])) return false;
  return true;
}

/** Reads a context for the node that renders, and notes it. */
export function readContext(context: Context): unknown {
  if (!at.active) throw new Error('A context can be read only while a component renders (Invalid hook call)');
  const value = context._currentValue2;
  const list = at.contexts;
  const index = at.contextIndex;
  at.contextIndex = index + 2;
  if (list === null) at.contexts = [context, value];
  else if (list[index] !== context || !Object.is(list[index + 1], value)) {
    const own = list.slice(0, index);
    own.push(context, value);
    at.contexts = own;
  }
  return value;
}

/** Begins to note the contexts of a node; true if one that the last render read has another value now. */
export function beginContexts(node: Node): boolean {
  const list = node.contexts;
  at.node = node;
  at.active = true;
  at.contexts = list;
  at.contextIndex = 0;
  if (list !== null)
    for (let i = 0; i < list.length; i += 2)
      if (!Object.is((list[i] as Context)._currentValue2, list[i + 1])) return true;
  return false;
}

export function endContexts(node: Node): void {
  const list = at.contexts;
  at.active = false;
  if (list !== null)
    node.contexts =
      at.contextIndex === list.length ? list : at.contextIndex === 0 ? null : list.slice(0, at.contextIndex);
}
