/** Effects of ends: of a task for the boundary or the shell it belongs to, of the shell and of the render for the app. */
import { emitEarlyPreloads } from '../out/early-hints.js';
import { preparePreamble } from '../state/preamble.js';
import {
  ABORTED,
  CLOSED,
  COMPLETED,
  ERRORED,
  FAILED,
  PENDING,
  type Boundary,
  type Render,
  type Segment,
} from '../state/render.js';
import { mayBeOutlined, queueCompletedSegment } from '../state/segments.js';
import { profile } from '../facts/profile.js';

export function fatalError(render: Render, error: unknown): void {
  if (render.mode === 'stream') render.mayFallBack = false;
  if (render.pendingRootTasks !== 0) render.onShellError(error);
  render.onFatalError(error);
  render.endLifetime();
  if (profile.abort !== 'next-turn') render.aborted = false;
  if (render.sink !== null) {
    render.status = CLOSED;
    render.sink.destroy(error);
    return;
  }
  render.status = FAILED;
  if (!render.aborted) render.fatalError = error;
}

/** A task is done, or is not needed any more (then `segment` is not completed, or null). */
export function finishedTask(render: Render, boundary: Boundary | null, segment: Segment | null): void {
  if (profile.turns === 'prompt') render.allPendingTasks -= 1;
  if (boundary === null) finishedRootTask(render, segment);
  else {
    boundary.pendingTasks -= 1;
    if (boundary.status !== ERRORED) finishedBoundaryTask(render, boundary, segment);
  }
  if (profile.turns !== 'prompt') render.allPendingTasks -= 1;
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
    (segment.status === COMPLETED || (segment.status === ABORTED && profile.givenUpPlaces === 'left-out'));
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

export function documentMayBeSettled(render: Render, boundary: Boundary): boolean {
  return render.pendingRootTasks === 0 && boundary.preamble !== null && !render.prerenders;
}

/** The content is here, so what is left of the fallback need not be rendered. */
function dropFallback(render: Render, boundary: Boundary): void {
  // Held up by one, so that the last of these tasks does not end the render before the caller has done so.
  const held = profile.droppedFallbacks === 'held' ? 1 : 0;
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
  if (render.isComplete) return;
  render.isComplete = true;
  render.onAllReady();
}
