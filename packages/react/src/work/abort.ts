/** Abort of what is still to come: the client renders boundaries that wait. */
import { logRecoverable, thrownInfo } from '../state/errors.js';
import { flushCompleted } from '../out/flush.js';
import { asFatal, createRecoverableError, isBrowserOnly } from '../facts/recoverable.js';
import { stackOf } from '../state/paths.js';
import { completeAll, fatalError } from './ends.js';
import { isThenable } from '../facts/thenables.js';
import { profile } from '../facts/profile.js';
import {
  ABORTED,
  CLOSED,
  ERRORED,
  FAILED,
  OPEN,
  OPENING,
  type Boundary,
  type ErrorInfo,
  type Render,
  type Task,
} from '../state/render.js';

/** Gives up: what comes of it depends on what waits, on `reason`, and on the line of React. */
export const abort: (render: Render, reason: unknown) => void = {
  silently: abortSilently,
  'within-call': abortWithinCall,
  'next-turn': abortInNextTurn,
}[profile.abort];

function abortInNextTurn(render: Render, reason: unknown): void {
  if (render.aborted || (render.status !== OPEN && render.status !== OPENING)) return;
  render.endLifetime();
  render.aborted = true;
  render.fatalError = abortError(reason);
  for (const task of render.abortableTasks) abortTask(render, task);
  if (render.mode === 'stream') setImmediate(() => finishAbort(render));
  else finishAbort(render);
}

function abortError(reason: unknown): unknown {
  if (isBrowserOnly(reason)) return createRecoverableError(reason);
  if (reason === undefined) return new Error('The render was aborted by the server without a reason.');
  if (isThenable(reason)) return new Error('The render was aborted by the server with a promise.');
  return reason;
}

/** Marks the task; the one that is running ends by itself. */
export function abortTask(render: Render, task: Task): void {
  if (task === render.task) return;
  task.segment.status = ABORTED;
  if (task.boundary === null) return;
  for (const fallback of task.boundary.fallbackTasks) abortTask(render, fallback);
}

function finishAbort(render: Render): void {
  endTasks(render, (task) => finishAbortedTask(render, task, render.fatalError));
}

/** Ends what waits, and sends what there is then. */
function endTasks(render: Render, end: (task: Task) => void): void {
  const { abortableTasks } = render;
  try {
    for (const task of abortableTasks) end(task);
    abortableTasks.clear();
    if (render.sink !== null) flushCompleted(render, render.sink);
  } catch (error) {
    logRecoverable(render, error, {});
    fatalError(render, error);
  }
}

export function finishAbortedTask(render: Render, task: Task, error: unknown): void {
  if (task === render.task || task.segment.status !== ABORTED) return;
  const info = infoOf(task);
  const { boundary } = task;
  if (boundary === null) {
    const reason = asFatal(error);
    logRecoverable(render, reason, info);
    if (render.status < FAILED) fatalError(render, reason);
    return;
  }
  failBoundary(render, boundary, error, info);
  endTask(render, boundary, (fallback) => finishAbortedTask(render, fallback, error));
}

/** Aborts as before 19.3: each task is given up and reported in one go, regardless of the render's state. */
function abortWithinCall(render: Render, reason: unknown): void {
  if (render.status === OPEN || render.status === OPENING) {
    render.status = OPEN;
    render.aborted = true;
  }
  if (render.abortableTasks.size > 0) render.fatalError = abortError(reason);
  endTasks(render, (task) => giveUpTask(render, task, render.fatalError));
}

function giveUpTask(render: Render, task: Task, error: unknown): void {
  if (task === render.task) return;
  task.segment.status = ABORTED;
  const info = infoOf(task);
  const { boundary } = task;
  if (boundary === null) {
    if (render.status >= FAILED) return endTask(render);
    logRecoverable(render, error, info);
    return fatalError(render, error);
  }
  failBoundary(render, boundary, error, info);
  return endTask(render, boundary, (fallback) => giveUpTask(render, fallback, error));
}

/** Aborts as in React 18: the render continues as if it had not been aborted, with what there is. */
function abortSilently(render: Render, reason: unknown): void {
  endTasks(render, (task) => dropTask(render, task, reason));
}

function dropTask(render: Render, task: Task, reason: unknown): void {
  // The one that runs, where it is.
  const { boundary, segment } = task === render.task ? render : task;
  segment.status = ABORTED;
  if (boundary === null) {
    render.allPendingTasks -= 1;
    if (render.status !== CLOSED) {
      render.status = CLOSED;
      render.sink?.end();
    }
    return;
  }
  boundary.pendingTasks -= 1;
  if (boundary.status !== ERRORED) {
    boundary.status = ERRORED;
    const digest = render.onError(reason === undefined ? abortError(reason) : reason, {});
    // Of any type here: react-dom sends it as it is.
    boundary.errorDigest = (digest || undefined) as string | undefined;
    if (boundary.parentFlushed) render.clientRenderedBoundaries.push(boundary);
  }
  endTask(render, boundary, (fallback) => dropTask(render, fallback, reason));
}

/** Ends a task. Within a boundary, the tasks of its fallback end as well. */
function endTask(render: Render, boundary?: Boundary, endFallback?: (task: Task) => void): void {
  if (boundary !== undefined && endFallback !== undefined) {
    for (const task of boundary.fallbackTasks) endFallback(task);
    boundary.fallbackTasks.clear();
  }
  render.allPendingTasks -= 1;
  if (render.allPendingTasks === 0) completeAll(render);
}

function failBoundary(render: Render, boundary: Boundary, error: unknown, info: ErrorInfo): void {
  if (boundary.status !== ERRORED) {
    boundary.status = ERRORED;
    boundary.errorDigest = logRecoverable(render, error, info);
    if (boundary.parentFlushed) render.clientRenderedBoundaries.push(boundary);
  }
  boundary.pendingTasks -= 1;
}

/** Returns the component stack where the task begins, for lack of a more exact place. */
export function infoOf(task: Task): ErrorInfo {
  return thrownInfo(stackOf(task.stack, [task.node], isElement(task.node) ? 1 : 0));
}

function isElement(node: unknown): boolean {
  return typeof node === 'object' && node !== null && 'type' in node && 'props' in node;
}
