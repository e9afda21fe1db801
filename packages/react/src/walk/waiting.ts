/** Tasks that wait: each resumes when what it waits for has come. */
import { OPENING, type Render, type Task } from '../state/render.js';
import type { Thenable } from '../facts/thenables.js';
import { profile } from '../facts/profile.js';
import { treeIdOfPlace } from './loose-forks.js';

export function waitFor(render: Render, task: Task, reason: Thenable): void {
  void reason.then(
    () => pingTask(render, task),
    (error: unknown) => {
      if (!render.aborted || profile.abort !== 'next-turn') pingTask(render, task);
      else if (task.abortSet.delete(task)) render.finishAborted(render, task, error);
    },
  );
}

/** Resumes the running task at `node` later: when `reason` has come, or, without one, when the stack is empty again. */
export function resumeTaskLater(
  render: Render,
  node: unknown,
  index: number,
  reason: Thenable | null,
  thenables: Thenable[] | null,
): void {
  const task = render.task as Task;
  task.keyPath = render.keyPathAt(render.depth);
  task.stack = render.stackAt(render.depth);
  task.treeId = treeIdOfPlace(render);
  task.node = node;
  task.index = index;
  task.format = render.format;
  task.contexts = render.contexts;
  task.thenables = thenables;
  task.suspended = true;
  if (reason === null) render.pingedTasks.push(task);
  else waitFor(render, task, reason);
}

function pingTask(render: Render, task: Task): void {
  render.pingedTasks.push(task);
  if (render.pingedTasks.length !== 1) return;
  render.flushScheduled = render.sink !== null;
  // As react-dom until 19.2, a string goes on after its end with what it has not given up: the next page finds what that loads.
  if (render.mode !== 'stream') return render.work(render);
  // Until the first turn of the event loop has passed the shell may still be completed without a wait.
  if ((render.status === OPENING && profile.turns !== 'begin-late') || render.prerenders)
    queueMicrotask(() => render.work(render));
  else setImmediate(() => render.work(render));
}
