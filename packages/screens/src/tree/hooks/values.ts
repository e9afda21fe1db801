/* oxlint-disable typescript/no-non-null-assertion -- a hook runs in a render, which has a root */
/** Values: hooks that keep a value from render to render. */
import { read } from '../errors.js';
import type { Wakeable } from '../errors.js';
import { CONTEXT, MEMO_CACHE_SENTINEL, type Context } from '../react.js';
import { DEFERRED, UPDATES, URGENT } from '../lanes.js';
import { deferredLane } from '../schedule.js';
import { work } from '../work.js';
import { DEFERRED_VALUE, MEMO, STRIDE, VALUE, at, next, readContext, sameDeps } from './cursor.js';
import type { Deps } from './effects.js';

function add(kind: number, value: unknown, more: unknown): void {
  at.index += STRIDE;
  at.hooks.push(kind, value, more, null);
}

export function mountRef(initial: unknown): { current: unknown } {
  const ref = { current: initial };
  add(VALUE, ref, null);
  return ref;
}

export function updateValue(): unknown {
  return at.hooks[next(VALUE) + 1];
}

export function mountValue(value: unknown): void {
  add(VALUE, value, null);
}

export function mountMemo(create: () => unknown, deps?: Deps): unknown {
  const index = at.index;
  add(MEMO, undefined, deps === undefined ? null : deps);
  const value = create();
  at.hooks[index + 1] = value;
  return value;
}

export function updateMemo(create: () => unknown, deps?: Deps): unknown {
  const index = next(MEMO);
  const { hooks } = at;
  if (sameDeps(hooks[index + 2], deps)) return hooks[index + 1];
  const value = create();
  hooks[index + 1] = value;
  hooks[index + 2] = deps === undefined ? null : deps;
  return value;
}

export function mountCallback(callback: unknown, deps?: Deps): unknown {
  add(MEMO, callback, deps === undefined ? null : deps);
  return callback;
}

export function updateCallback(callback: unknown, deps?: Deps): unknown {
  const index = next(MEMO);
  const { hooks } = at;
  if (sameDeps(hooks[index + 2], deps)) return hooks[index + 1];
  hooks[index + 1] = callback;
  hooks[index + 2] = deps === undefined ? null : deps;
  return callback;
}

export function mountId(): string {
  const id = `_s_${(work.root!.ids++).toString(32)}_`;
  add(VALUE, id, null);
  return id;
}

/** Cache of the React Compiler: an array of the component's own, copied by each render so that a rollback finds the old one. */
export function mountMemoCache(size: number): unknown[] {
  const cache = Array.from({ length: size }, () => MEMO_CACHE_SENTINEL as unknown);
  add(VALUE, cache, null);
  return cache;
}

export function updateMemoCache(_size: number): unknown[] {
  const index = next(VALUE);
  const { hooks } = at;
  const cache = at.rerun ? (hooks[index + 1] as unknown[]) : (hooks[index + 1] as unknown[]).slice();
  hooks[index + 1] = cache;
  return cache;
}

export function use(usable: unknown): unknown {
  if (typeof usable === 'object' && usable !== null) {
    if (typeof (usable as Wakeable).then === 'function') return read(usable as Wakeable);
    if ((usable as Context).$$typeof === CONTEXT) return readContext(usable as Context);
  }
  throw new Error(`use() was called with something that is neither promise nor context: ${String(usable)}`);
}

/** Whether this render is the one for which values were deferred. */
function isDeferred(): boolean {
  return (work.lanes & DEFERRED) !== 0 && (work.rootLanes & UPDATES) === 0;
}

function deferValue(value: unknown, initial: unknown): unknown {
  if (initial === undefined || isDeferred()) return value;
  deferredLane(at.node);
  return initial;
}

export function mountDeferredValue(value: unknown, initial?: unknown): unknown {
  const index = at.index;
  add(DEFERRED_VALUE, undefined, null);
  const shown = deferValue(value, initial);
  at.hooks[index + 1] = shown;
  return shown;
}

export function updateDeferredValue(value: unknown, initial?: unknown): unknown {
  const index = next(DEFERRED_VALUE);
  const { hooks } = at;
  const before = at.before === null ? hooks[index + 1] : at.before[index + 1];
  let shown = value;
  if (Object.is(value, before)) return value;
  if (work.revealing > 0) shown = deferValue(value, initial);
  else if ((work.lanes & URGENT) !== 0 && !isDeferred()) {
    deferredLane(at.node);
    return before;
  }
  if (!Object.is(shown, before)) at.received = true;
  hooks[index + 1] = shown;
  return shown;
}
