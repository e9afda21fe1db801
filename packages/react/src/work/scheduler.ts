/**
 * Times at which a render works: at once for strings; for streams on the same ticks as react-dom, so that a first byte is never later
 * than its.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { enterContexts, leaveContexts } from '../state/contexts.js';
import { logRecoverable } from '../state/errors.js';
import { flushCompleted } from '../out/flush.js';
import { emitEarlyPreloads } from '../out/early-hints.js';
import { enterHooks, leaveHooks } from '../walk/hooks.js';
import { installResourceFunctions, type ResourceTarget } from '../walk/preloads.js';
import type { Resources } from '../state/resources.js';
import { fatalError } from './ends.js';
import { performTask } from './tasks.js';
import { Unsupported } from '../facts/unsupported.js';
import { profile } from '../facts/profile.js';
import { clear } from '../state/segments.js';
import { CLOSED, FAILED, OPEN, OPENING, type Render, type Task } from '../state/render.js';

const beginsLate = profile.turns === 'begin-late';

/** The render whose work is being done, for the resource functions; what components start to do later finds it by its async context. */
let working: Render | null = null;
const storage = new AsyncLocalStorage<Render>();

/** Gives calls of `preload` and the like to the render that makes them, from now on. */
export function takeResourceFunctions(): void {
  installResourceFunctions(target);
}

function target(): ResourceTarget | null {
  const render = working ?? storage.getStore() ?? null;
  return (
    render && {
      resources: render.resources,
      noteEffect: (add) => noteEffect(render, add),
      enqueueFlush: () => enqueueFlush(render),
    }
  );
}

/** Approximate memory of a resource function's arguments. */
const CALL_BYTES = 512;

function noteEffect(render: Render, add: (resources: Resources) => boolean): void {
  const again = (later: Render): void => {
    if (add(later.resources)) enqueueFlush(later);
  };
  if (working === render) render.recording?.effects.push({ again, bytes: CALL_BYTES });
  else render.effectsBetweenTurns += 1;
}

export function performWork(render: Render): void {
  if ((render.aborted && profile.abort === 'next-turn') || render.status >= (beginsLate ? CLOSED : FAILED))
    return;
  const contexts = enterContexts();
  const hooks = enterHooks(render);
  const outer = working;
  working = render;
  try {
    const { pingedTasks } = render;
    // Tasks may ping others, which are done in the same turn.
    for (let at = 0; at < pingedTasks.length; at += 1) performTask(render, pingedTasks[at] as Task);
    clear(pingedTasks);
    if (render.sink !== null) flushCompleted(render, render.sink);
  } catch (error) {
    if (error instanceof Unsupported && render.mayFallBack) throw error;
    logRecoverable(render, error, {});
    fatalError(render, error);
  } finally {
    working = outer;
    leaveHooks(hooks);
    leaveContexts(contexts);
  }
}

export function startWork(render: Render): void {
  if (beginsLate) {
    setImmediate(() => render.work(render));
    return;
  }
  render.flushScheduled = render.sink !== null;
  queueMicrotask(() => storage.run(render, () => render.work(render)));
  setImmediate(() => {
    if (render.status === OPENING) render.status = OPEN;
    if (render.prerenders) return;
    storage.run(render, () => emitEarlyPreloads(render, render.pendingRootTasks === 0));
  });
}

export function enqueueFlush(render: Render): void {
  if (render.flushScheduled || render.pingedTasks.length > 0 || render.sink === null) return;
  render.flushScheduled = true;
  setImmediate(() => {
    if (render.sink === null) render.flushScheduled = false;
    else flushCompleted(render, render.sink);
  });
}
