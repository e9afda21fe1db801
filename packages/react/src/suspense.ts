/** Suspense: content that may come later or not at all, and a fallback in its place until then. */
import { contentFormat, fallbackFormat, HTML } from './format.js';
import { preparePreamble } from './preamble.js';
import type { Props } from './react.js';
import { ALONE, renderNode } from './render.js';
import { addSegment, addTask, finishSegment, queueCompletedSegment, switchSegment } from './segments.js';
import { switchContexts } from './contexts.js';
import { logRecoverable, thrownInfo } from './errors.js';
import { resetHooks } from './hooks.js';
import { waitsForResources } from './resources.js';
import { ABORTED, Boundary, COMPLETED, ERRORED, PENDING, Segment, type Render, type Task } from './work.js';

/** Content shorter than this is never sent apart from what is around it. */
const OUTLINED_BYTES_MIN = 500;

/** Whether content that is ready may still be sent after its fallback, so as not to hold up the rest. */
export function mayBeOutlined(render: Render, boundary: Boundary): boolean {
  if (boundary.preamble !== null || render.mode !== 'stream') return false;
  return boundary.byteSize > OUTLINED_BYTES_MIN || waitsForResources(boundary.content, false);
}

export function renderSuspense(render: Render, props: Props): void {
  const { boundary: outer, preamble, hoistables, segment: around } = render;
  const { format, depth, forks, contexts } = render;
  // Read before anything of the content runs, as react-dom does.
  const { fallback, children } = props;
  const fallbackTasks = new Set<Task>();
  const boundary = new Boundary(fallbackTasks, render.mode === 'stream' && format.mode < HTML);
  const place = new Segment(boundary, format, false, false);
  addSegment(render, place);
  render.lastText = false;
  const content = new Segment(null, format, false, false);
  content.parentFlushed = true;

  let stackDepth = depth;
  render.chained = false;
  render.boundary = boundary;
  render.preamble = boundary.preamble?.content ?? null;
  render.hoistables = boundary.content;
  render.format = contentFormat(format);
  switchSegment(render, content);
  try {
    renderNode(render, children, ALONE);
    finishSegment(render, boundary);
    queueCompletedSegment(boundary, content);
    if (boundary.pendingTasks === 0 && boundary.status === PENDING) {
      boundary.status = COMPLETED;
      if (!mayBeOutlined(render, boundary)) {
        if (render.pendingRootTasks === 0 && render.preamble !== null) preparePreamble(render);
        return;
      }
    }
  } catch (thrown) {
    resetHooks();
    stackDepth = render.depth;
    boundary.status = ERRORED;
    content.status = render.aborted ? ABORTED : ERRORED;
    const error = render.aborted ? render.fatalError : thrown;
    boundary.errorDigest = logRecoverable(render, error, thrownInfo(render.stackAt(render.depth)));
  } finally {
    switchSegment(render, around);
    render.boundary = outer;
    render.preamble = preamble;
    render.hoistables = hoistables;
    render.format = format;
    render.depth = depth;
    render.forks = forks;
    if (render.contexts !== contexts) {
      switchContexts(contexts);
      render.contexts = contexts;
    }
  }
  const [parentPath = null, , ownKey = null] = render.keyPathAt(depth) ?? [];
  render.pingedTasks.push(
    addTask(render, {
      node: fallback,
      index: ALONE,
      boundary: outer,
      segment: place,
      preamble: boundary.preamble?.fallback ?? null,
      hoistables: boundary.fallback,
      abortSet: fallbackTasks,
      keyPath: [parentPath, 'Suspense Fallback', ownKey],
      // In the place of what threw, not of the boundary: so react-dom reports it.
      stack: { parent: render.stackAt(stackDepth)?.parent ?? null, type: 'Suspense Fallback' },
      format: fallbackFormat(render.resources, format),
      contexts,
      treeId: render.currentTreeId(),
      thenables: null,
    }),
  );
}
