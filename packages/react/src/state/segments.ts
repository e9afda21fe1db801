/** Bookkeeping of segments and tasks: where HTML goes, and what is still to come. */
import { Bytes, encodeAfter } from '../facts/encode.js';
import { profile } from '../facts/profile.js';
import { waitsForResources } from './resources.js';
import { ABORTED, COMPLETED, ERRORED, Segment, type Boundary, type Render, type Task } from './render.js';

/** Empties a list. To set its length costs a call of V8's runtime, which small renders feel, and most lists have one item or none. */
export function clear(list: unknown[]): void {
  if (list.length === 1) list.pop();
  else if (list.length > 0) list.length = 0;
}

/** Switches the output to `segment`; the one before keeps what it has. */
export function switchSegment(render: Render, segment: Segment): void {
  const before = render.segment;
  before.out = render.out;
  before.lastText = render.lastText;
  openSegment(render, segment);
}

export function openSegment(render: Render, segment: Segment): void {
  render.segment = segment;
  render.parts = segment.parts;
  render.out = segment.out;
  render.lastText = segment.lastText;
}

/**
 * Makes what has been written a part, so that something else may follow it. It is a part of its own: a caller that takes back what was
 * written drops the parts since, and those before have to be as they were.
 */
export function spill(render: Render): void {
  if (render.out === '') return;
  render.parts.push(render.encodes ? encodeAfter(null, render.out) : render.out);
  render.out = '';
}

/** Keeps a place for `segment` at the end of what has been written. */
export function addSegment(render: Render, segment: Segment): void {
  spill(render);
  render.parts.push(segment);
}

/** Ends the segment that is written to. Its length counts for `boundary`, or for the shell. */
export function finishSegment(render: Render, boundary: Boundary | null): void {
  const { segment } = render;
  if (render.lastText && segment.textEmbedded && !render.markup) render.out += '<!-- -->';
  spill(render);
  segment.out = '';
  segment.status = COMPLETED;
  const bytes = joinParts(segment);
  if (boundary === null) render.byteSize += bytes;
  else boundary.byteSize += bytes;
}

/** Joins stretches that were encoded one behind the other. Returns the UTF-8 length of the encoded part of the segment's own HTML. */
function joinParts({ parts }: Segment): number {
  let bytes = 0;
  let kept = 0;
  for (const part of parts) {
    if (part instanceof Bytes) {
      bytes += part.length;
      const before = kept === 0 ? null : parts[kept - 1];
      if (before instanceof Bytes && before.slab === part.slab && before.end === part.start) {
        before.end = part.end;
        continue;
      }
    }
    parts[kept] = part;
    kept += 1;
  }
  if (kept < parts.length) parts.length = kept;
  return bytes;
}

export function queueCompletedSegment(boundary: Boundary, segment: Segment): void {
  const only = segment.parts[0];
  const isMereWrapper =
    segment.parts.length === 1 && only instanceof Segment && only.boundary === null && only.id === -1;
  if (!isMereWrapper) {
    boundary.completedSegments.push(segment);
    return;
  }
  only.id = segment.id;
  only.parentFlushed = true;
  const isGivenUp =
    (only.status === ABORTED || only.status === ERRORED) && profile.givenUpPlaces === 'left-out';
  if (only.status === COMPLETED || isGivenUp) {
    queueCompletedSegment(boundary, only);
  }
}

/** Content shorter than this is never sent apart from what is around it. */
const OUTLINED_BYTES_MIN = 500;

/** Whether content that is ready may still be sent after its fallback, so as not to hold up the rest. */
export function mayBeOutlined(render: Render, boundary: Boundary): boolean {
  if (profile.outlining === 'never' || boundary.preamble !== null || render.mode !== 'stream') return false;
  return boundary.byteSize > OUTLINED_BYTES_MIN || waitsForResources(boundary.content, false);
}

export function addTask(render: Render, task: Task): Task {
  render.allPendingTasks += 1;
  if (task.boundary === null) render.pendingRootTasks += 1;
  else task.boundary.pendingTasks += 1;
  task.abortSet.add(task);
  return task;
}
