/** Suspense: content that may come later or not at all, and a fallback in its place until then. */
import { contentFormat, fallbackFormat, holdsHead, HTML } from '../facts/format.js';
import { dropLooseForks } from './loose-forks.js';
import type { KeyPath, StackNode } from '../state/paths.js';
import { preparePreamble } from '../state/preamble.js';
import { SUSPENSE, type Props } from '../facts/react.js';
import { ALONE } from '../facts/tree-id.js';
import { renderNode } from './recursion.js';
import {
  addSegment,
  addTask,
  finishSegment,
  mayBeOutlined,
  queueCompletedSegment,
  switchSegment,
} from '../state/segments.js';
import { switchContexts } from '../state/contexts.js';
import { logRecoverable, thrownInfo } from '../state/errors.js';
import { resetHooks } from '../state/running.js';
import { profile } from '../facts/profile.js';
import {
  ABORTED,
  Boundary,
  COMPLETED,
  ERRORED,
  PENDING,
  Segment,
  Task,
  type Render,
} from '../state/render.js';

/** Whether a boundary may hold up the document. Strings are complete when they are given out, so it cannot there; 19.1 let it. */
function mayHoldDocument(render: Render): boolean {
  return render.mode === 'stream' ? holdsHead : profile.head === 'rendered-last';
}

export function renderSuspense(render: Render, props: Props): void {
  const { boundary: outer, preamble, hoistables, segment: around } = render;
  const { format, depth, forks, contexts } = render;
  // Read before anything of the content runs, as react-dom does.
  const { fallback, children } = props;
  const fallbackTasks = new Set<Task>();
  const boundary = new Boundary(fallbackTasks, format.mode < HTML && mayHoldDocument(render));
  const place = new Segment(boundary, format, false, false);
  addSegment(render, place);
  render.lastText = false;
  const content = new Segment(null, format, false, false);
  content.parentFlushed = true;

  if (render.prerenders) {
    prerenderSuspense(render, boundary, place, content, props);
    return;
  }
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
    if (render.contexts !== contexts) {
      switchContexts(contexts);
      render.contexts = contexts;
    }
  }
  // Not where the app's `onError` has thrown: what comes of that is reported where the error was.
  render.depth = depth;
  render.forks = forks;
  dropLooseForks(render, depth);
  // In the place of what threw, not of the boundary: so react-dom reports it.
  const stack = fallbackStack(render.stackAt(stackDepth));
  const task = new Task(render, fallback, ALONE, place, fallbackPath(render, depth), stack);
  task.preamble = boundary.preamble?.fallback ?? null;
  task.hoistables = boundary.fallback;
  task.abortSet = fallbackTasks;
  task.format = fallbackFormat(render.resources, format);
  render.pingedTasks.push(addTask(render, task));
}

function fallbackStack(place: StackNode | null): StackNode | null {
  return profile.fallbacks === 'like-content'
    ? place
    : { parent: place?.parent ?? null, type: 'Suspense Fallback' };
}

function fallbackPath(render: Render, depth: number): KeyPath {
  const [parent = null, , key = null] = render.keyPathAt(depth) ?? [];
  return [parent, 'Suspense Fallback', key];
}

/** Prerenders a boundary. It is unknown before what will be ready: the fallback comes first, the content is a task of its own. */
function prerenderSuspense(
  render: Render,
  boundary: Boundary,
  place: Segment,
  content: Segment,
  props: Props,
): void {
  const { preamble, segment: around, format, depth, forks, keyPath, stack, nodes, indexes } = render;
  const { fallback, children } = props;
  const ownPath = render.keyPathAt(depth);
  const ownStack = render.stackAt(depth - 1);
  const treeId = render.currentTreeId();
  render.chained = false;
  render.preamble = boundary.preamble?.fallback ?? null;
  if (profile.fallbacks === 'apart') render.format = fallbackFormat(render.resources, format);
  switchSegment(render, place);
  try {
    // Below here paths lead through the fallback: they start anew from it.
    const inner = { nodes: nodes.slice(0, depth), indexes: indexes.slice(0, depth) };
    render.keyPath = fallbackPath(render, depth);
    render.stack = fallbackStack({ parent: ownStack, type: SUSPENSE });
    render.depth = 0;
    renderNode(render, fallback, ALONE);
    finishSegment(render, render.boundary);
    nodes.splice(0, depth, ...inner.nodes);
    indexes.splice(0, depth, ...inner.indexes);
  } catch (thrown) {
    place.status = render.aborted ? ABORTED : ERRORED;
    throw thrown;
  } finally {
    switchSegment(render, around);
    render.preamble = preamble;
    render.format = format;
    render.forks = forks;
    if (place.status === COMPLETED) {
      render.keyPath = keyPath;
      render.stack = stack;
      render.depth = depth;
    }
  }
  const task = new Task(render, children, ALONE, content, ownPath, { parent: ownStack, type: SUSPENSE });
  task.boundary = boundary;
  task.preamble = boundary.preamble?.content ?? null;
  task.hoistables = boundary.content;
  task.format = contentFormat(format);
  task.treeId = treeId;
  render.pingedTasks.push(addTask(render, task));
}
