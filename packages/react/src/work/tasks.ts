/** Doing a task. */
import { keepInTask } from '../cache/cacheable.js';
import { Unsupported } from '../facts/unsupported.js';
import { asFatal } from '../facts/recoverable.js';
import { profile } from '../facts/profile.js';
import { switchContexts } from '../state/contexts.js';
import { logRecoverable, thrownInfo } from '../state/errors.js';
import { preparePreamble } from '../state/preamble.js';
import { ERRORED, PENDING, type ErrorInfo, type Render, type Task } from '../state/render.js';
import { resetHooks } from '../state/running.js';
import { clear, finishSegment, openSegment } from '../state/segments.js';
import { CHAINED } from '../facts/thenables.js';
import { renderNode } from '../walk/node.js';
import { abortTask, finishAbortedTask, infoOf } from './abort.js';
import { completeAll, documentMayBeSettled, fatalError, finishedTask } from './ends.js';

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
      if (render.aborted && profile.abort === 'next-turn') {
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
  clear(render.looseForks);
  render.chained = true;
  openSegment(render, task.segment);
}

function failTask(render: Render, task: Task, error: unknown, info: ErrorInfo): void {
  task.abortSet.delete(task);
  task.segment.status = ERRORED;
  render.allPendingTasks -= 1;
  const { boundary } = task;
  if (boundary === null) {
    const reason = asFatal(error);
    logRecoverable(render, reason, info);
    fatalError(render, reason);
    if (profile.abort !== 'next-turn' && render.allPendingTasks === 0) completeAll(render);
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
