/** Doing a task, and what its end means for the boundary and the shell it belongs to. */
import { abortTask, finishAbortedTask, infoOf } from './abort.js';
import { keepInTask } from '../cache/cacheable.js';
import { switchContexts } from '../state/contexts.js';
import { emitEarlyPreloads } from '../out/early-hints.js';
import { logRecoverable, thrownInfo } from '../state/errors.js';
import { resetHooks } from '../state/running.js';
import { preparePreamble } from '../state/preamble.js';
import { asFatal, isRecoverableError } from '../facts/recoverable.js';
import { CHAINED, renderNode } from '../walk/render.js';
import { finishSegment, openSegment, queueCompletedSegment } from '../state/segments.js';
import { mayBeOutlined } from '../walk/suspense.js';
import { Unsupported } from '../facts/unsupported.js';
import {
  abortsWithinCall,
  completesAfterFailure,
  countsTaskLast,
  failsOnAborted,
  mayCompleteTwice,
} from '../facts/versions.js';
import {
  ABORTED,
  CLOSED,
  COMPLETED,
  ERRORED,
  FAILED,
  PENDING,
  type Boundary,
  type ErrorInfo,
  type Render,
  type Segment,
  type Task,
} from '../state/work.js';

export function performTask(render: Render, task: Task): void {
  const { segment } = task;
  if (segment.status !== PENDING) return;
  const outer = render.task;
  loadTask(render, task);
  const parts = segment.parts.length;
  const { out, lastText } = segment;
  let isRendered = false;
  try {
    const { node, index, keeping } = task;
    task.keeping = null;
    if (keeping === null) renderNode(render, node, index);
    else keepInTask(render, keeping, () => renderNode(render, node, index));
    finishSegment(render, task.boundary);
    task.abortSet.delete(task);
    isRendered = true;
    finishedTask(render, task.boundary, segment);
  } catch (thrown) {
    if (thrown instanceof Unsupported && render.mayFallBack) throw thrown;
    resetHooks();
    segment.parts.length = parts;
    segment.out = out;
    segment.lastText = lastText;
    if (thrown !== CHAINED) {
      if (render.aborted && !abortsWithinCall) {
        render.task = outer;
        // Reported where it was thrown, not where the task began.
        task.stack = render.stackAt(render.depth);
        task.node = null;
        abortTask(render, task);
        task.abortSet.delete(task);
        finishAbortedTask(render, task, render.fatalError);
      } else {
        // A callback of the app may throw as well.
        const info = isRendered ? infoOf(task) : thrownInfo(render.stackAt(render.depth));
        failTask(render, task, render.aborted ? render.fatalError : thrown, info);
      }
    }
  } finally {
    render.task = outer;
  }
}

function loadTask(render: Render, task: Task): void {
  render.task = task;
  switchContexts(task.contexts);
  render.contexts = task.contexts;
  render.boundary = task.boundary;
  render.preamble = task.preamble;
  render.hoistables = task.hoistables;
  render.abortSet = task.abortSet;
  render.format = task.format;
  render.keyPath = task.keyPath;
  render.stack = task.stack;
  render.treeId = task.treeId;
  render.thenables = task.thenables;
  task.thenables = null;
  render.depth = 0;
  render.forks = 0;
  render.looseForks.length = 0;
  render.chained = true;
  openSegment(render, task.segment);
}

function failTask(render: Render, task: Task, error: unknown, info: ErrorInfo): void {
  task.abortSet.delete(task);
  task.segment.status = ERRORED;
  render.allPendingTasks -= 1;
  const { boundary } = task;
  if (boundary === null) {
    const reason = isRecoverableError(error) ? asFatal(error) : error;
    logRecoverable(render, reason, info);
    fatalError(render, reason);
    if (completesAfterFailure && render.allPendingTasks === 0) completeAll(render);
    return;
  }
  const digest = logRecoverable(render, error, info);
  boundary.pendingTasks -= 1;
  if (boundary.status !== ERRORED) {
    boundary.status = ERRORED;
    boundary.errorDigest = digest;
    if (boundary.parentFlushed) render.clientRenderedBoundaries.push(boundary);
    if (documentMayBeSettled(render, boundary)) preparePreamble(render);
  }
  if (render.allPendingTasks === 0) completeAll(render);
}

export function fatalError(render: Render, error: unknown): void {
  if (render.mode === 'stream') render.mayFallBack = false;
  if (render.pendingRootTasks !== 0) render.onShellError(error);
  render.onFatalError(error);
  endLifetime(render);
  if (abortsWithinCall) render.aborted = false;
  if (render.sink !== null) {
    render.status = CLOSED;
    render.sink.destroy(error);
    return;
  }
  render.status = FAILED;
  if (!render.aborted) render.fatalError = error;
}

export function endLifetime(render: Render): void {
  render.lifetime?.abort('The render ended.');
}

/** A task is done, or is not needed any more (then `segment` is not completed, or null). */
export function finishedTask(render: Render, boundary: Boundary | null, segment: Segment | null): void {
  if (!countsTaskLast) render.allPendingTasks -= 1;
  if (boundary === null) finishedRootTask(render, segment);
  else {
    boundary.pendingTasks -= 1;
    if (boundary.status !== ERRORED) finishedBoundaryTask(render, boundary, segment);
  }
  if (countsTaskLast) render.allPendingTasks -= 1;
  if (render.allPendingTasks === 0) completeAll(render);
}

function finishedRootTask(render: Render, segment: Segment | null): void {
  if (segment?.parentFlushed) {
    if (render.completedRootSegment !== null) {
      throw new Error('There can only be one root segment. This is a bug in React.');
    }
    render.completedRootSegment = segment;
  }
  render.pendingRootTasks -= 1;
  if (render.pendingRootTasks === 0) completeShell(render);
}

function finishedBoundaryTask(render: Render, boundary: Boundary, segment: Segment | null): void {
  const isContentRoot =
    segment !== null &&
    segment.parentFlushed &&
    (segment.status === COMPLETED || (segment.status === ABORTED && !failsOnAborted));
  if (boundary.pendingTasks > 0) {
    if (!isContentRoot) return;
    queueCompletedSegment(boundary, segment);
    if (boundary.completedSegments.length === 1 && boundary.parentFlushed) {
      render.partialBoundaries.push(boundary);
    }
    return;
  }
  if (boundary.status === PENDING) boundary.status = COMPLETED;
  if (isContentRoot) queueCompletedSegment(boundary, segment);
  if (boundary.parentFlushed) render.completedBoundaries.push(boundary);
  if (boundary.status !== COMPLETED) return;
  if (!mayBeOutlined(render, boundary)) dropFallback(render, boundary);
  if (documentMayBeSettled(render, boundary)) preparePreamble(render);
}

function documentMayBeSettled(render: Render, boundary: Boundary): boolean {
  return render.pendingRootTasks === 0 && boundary.preamble !== null && !render.prerenders;
}

/** The content is here, so what is left of the fallback need not be rendered. */
function dropFallback(render: Render, boundary: Boundary): void {
  // Held up by one, so that the last of these tasks does not end the render before the caller has done so.
  const held = mayCompleteTwice ? 0 : 1;
  render.allPendingTasks += held;
  for (const task of boundary.fallbackTasks) {
    task.segment.status = ABORTED;
    finishedTask(render, task.boundary, task.segment);
  }
  boundary.fallbackTasks.clear();
  render.allPendingTasks -= held;
}

export function completeShell(render: Render): void {
  if (!render.prerenders) {
    emitEarlyPreloads(render, true);
    preparePreamble(render);
  }
  // A string has not left yet, nor has what is prerendered.
  if (render.mode === 'stream' && !render.prerenders) render.mayFallBack = false;
  render.onShellReady();
}

export function completeAll(render: Render): void {
  if (render.mode === 'stream') render.mayFallBack = false;
  emitEarlyPreloads(render, true);
  preparePreamble(render);
  render.onAllReady();
}
