/**
 * Flush of what is complete: the document's head and the shell first, then boundaries as they come, each with the script that puts it in
 * its place. Order and turns are react-dom's.
 */
import { clientScripts } from '../facts/client-scripts.js';
import { escapeHtml } from '../facts/escape.js';
import { writeCompletedBoundary, writeClientRender, writeCompletedSegment } from './instructions.js';
import { Bytes } from '../facts/encode.js';
import {
  writeHeadResources,
  writeLateResources,
  writeOnce,
  writeStylesForBoundary,
} from './flush-resources.js';
import {
  SENT_SHELL_ID,
  SENT_SHELL_TIME,
  addHoistables,
  shellId,
  waitsForResources,
  type Hoistables,
  type Preamble,
} from '../state/resources.js';
import { clear, mayBeOutlined } from '../state/segments.js';
import { segmentWrapper } from '../facts/transport.js';
import { holdsHead } from '../facts/format.js';
import { profile } from '../facts/profile.js';
import {
  ABORTED,
  CLOSED,
  COMPLETED,
  ERRORED,
  FLUSHED,
  PENDING,
  type Boundary,
  type Render,
  type Segment,
  type Sink,
} from '../state/render.js';

const numbersApart = profile.boundaryIds === 'apart';

/** One turn of flushing; `bytes` is what has gone out in this stretch, by which content is judged too large to go along. */
class Turn {
  readonly render: Render;
  readonly sink: Sink;
  bytes = 0;
  inShell = false;
  inPartial = false;

  constructor(render: Render, sink: Sink) {
    this.render = render;
    this.sink = sink;
  }
}

export function flushCompleted(render: Render, sink: Sink): void {
  const turn = new Turn(render, sink);
  try {
    if (render.pendingRootTasks === 0) flushQueues(turn);
  } finally {
    const isDone =
      render.allPendingTasks === 0 &&
      (profile.turns === 'prompt' || render.pingedTasks.length === 0) &&
      render.clientRenderedBoundaries.length === 0 &&
      render.completedBoundaries.length === 0;
    if (isDone) {
      render.flushScheduled = false;
      if (render.resources.hasBody) sink.text('</body>');
      if (render.resources.hasHtml) sink.text('</html>');
      sink.flush();
      render.endLifetime();
      render.status = CLOSED;
      sink.end();
      render.sink = null;
      render.release();
    } else sink.flush();
  }
}

function flushQueues(turn: Turn): void {
  const { render, sink } = turn;
  const { resources } = render;
  const { completedRootSegment: root, completedPreambleSegments: heads } = render;
  if (root !== null) {
    if (heads === null) return;
    flushShell(turn, root, heads);
  }
  writeLateResources(resources, sink);
  const isStopped = (queue: Boundary[], flush: (boundary: Boundary) => boolean): boolean => {
    for (let at = 0; at < queue.length; at += 1) {
      if (flush(queue[at] as Boundary)) continue;
      render.sink = null;
      queue.splice(0, at + 1);
      return true;
    }
    clear(queue);
    return false;
  };
  if (isStopped(render.clientRenderedBoundaries, (boundary) => flushClientRendered(turn, boundary))) return;
  if (isStopped(render.completedBoundaries, (boundary) => flushBoundary(turn, boundary))) return;
  sink.handOn();
  turn.inPartial = true;
  if (isStopped(render.partialBoundaries, (boundary) => flushPartialBoundary(turn, boundary))) return;
  turn.inPartial = false;
  isStopped(render.completedBoundaries, (boundary) => flushBoundary(turn, boundary));
}

function flushShell(turn: Turn, root: Segment, heads: Segment[][]): void {
  const { render, sink } = turn;
  const { resources } = render;
  const { preamble } = resources;
  turn.bytes = render.byteSize;
  if (preamble.html !== null) sink.text(preamble.html + (preamble.head ?? '<head>'));
  else if (preamble.head !== null) sink.text(preamble.head);
  writeHeadResources(resources, sink);
  const hasHead = preamble.html !== null || preamble.head !== null;
  if (!hasHead || render.mode !== 'stream') resources.instructions |= SENT_SHELL_ID;
  writeOnce(sink, resources.hoisted);
  for (const segments of heads) for (const segment of segments) flushSegment(turn, segment, null);
  const endsHead = holdsHead ? hasHead : preamble.html !== null && preamble.head === null;
  if (endsHead) sink.text('</head>');
  if (preamble.body !== null) sink.text(preamble.body);
  turn.inShell = true;
  flushSegment(turn, root, null);
  turn.inShell = false;
  render.completedRootSegment = null;
  const isMoreToCome =
    render.allPendingTasks !== 0 ||
    render.clientRenderedBoundaries.length > 0 ||
    render.completedBoundaries.length > 0;
  if (isMoreToCome) writeShellTime(turn);
  writeBootstrap(turn);
}

/** The client counts from the time at which the shell was shown. */
function writeShellTime({ render, sink }: Turn): void {
  const { resources } = render;
  if (resources.instructions & SENT_SHELL_TIME || profile.shell === 'unmarked') return;
  resources.instructions |= SENT_SHELL_TIME;
  sink.text(`${resources.openScript}${shellId(resources)}>${clientScripts().shellTime}</script>`);
}

function writeBootstrap({ render, sink }: Turn): void {
  sink.text(render.resources.bootstrap);
  render.resources.bootstrap = '';
}

// Segments ---------------------------------------------------------------------------------------------------------

function flushSegment(turn: Turn, segment: Segment, hoistables: Hoistables | null): void {
  const { render, sink } = turn;
  const { boundary } = segment;
  if (boundary === null) return flushSubtree(turn, segment, hoistables);
  if (profile.boundaryMarks === 'once') segment.boundary = null;
  boundary.parentFlushed = true;
  // Static markup has no comments, except, in react-dom, around what never comes.
  let isMarked = !render.markup;
  if (boundary.status === ERRORED) {
    if (isMarked) {
      const digest = boundary.errorDigest;
      const attribute = digest === undefined ? '' : ` data-dgst="${escapeHtml(digest)}"`;
      sink.text(`<!--$!--><template${attribute}></template>`);
    }
    flushSubtree(turn, segment, hoistables);
    writeDocumentTags(turn, boundary.preamble?.fallback);
  } else if (boundary.status !== COMPLETED) {
    numberBoundary(render, boundary);
    if (boundary.completedSegments.length > 0) render.partialBoundaries.push(boundary);
    writePendingBoundary(turn, boundary);
    isMarked = true;
    if (hoistables !== null) addHoistables(hoistables, boundary.fallback);
    flushSubtree(turn, segment, hoistables);
  } else if (isBetterLate(turn, boundary)) {
    if (numbersApart) {
      sink.text('<!--$?--><template id="');
      throw new Error('An ID must have been assigned before we can complete the boundary.');
    }
    numberBoundary(render, boundary);
    render.completedBoundaries.push(boundary);
    writePendingBoundary(turn, boundary);
    flushSubtree(turn, segment, hoistables);
  } else {
    turn.bytes += boundary.byteSize;
    if (hoistables !== null) addHoistables(hoistables, boundary.content);
    if (isMarked) sink.text('<!--$-->');
    if (boundary.completedSegments.length !== 1) {
      throw new Error(
        'A previously unvisited boundary must have exactly one root segment. This is a bug in React.',
      );
    }
    flushSegment(turn, boundary.completedSegments[0] as Segment, hoistables);
    writeDocumentTags(turn, boundary.preamble?.content);
  }
  if (isMarked) sink.text('<!--/$-->');
  return undefined;
}

function numberBoundary(render: Render, boundary: Boundary): void {
  boundary.rootSegmentId = render.nextSegmentId;
  render.nextSegmentId += 1;
  boundary.id = numbersApart ? render.nextBoundaryId : boundary.rootSegmentId;
  render.nextBoundaryId += 1;
}

/** Tells the client which tags of the document were within the boundary. */
function writeDocumentTags({ render, sink }: Turn, preamble: Preamble | undefined): void {
  if (profile.head !== 'rendered-last' || render.markup || preamble === undefined) return;
  if (preamble.contribution !== 0) sink.text(`<!--${preamble.contribution}-->`);
}

function isBetterLate({ render, inPartial, inShell, bytes }: Turn, boundary: Boundary): boolean {
  // Nobody counted the bytes: only an absurd limit is exceeded.
  if (profile.outlining === 'never') return render.progressiveChunkSize < 0;
  if (inPartial || !mayBeOutlined(render, boundary)) return false;
  const isTooLarge = bytes + boundary.byteSize > render.progressiveChunkSize;
  return isTooLarge || waitsForResources(boundary.content, inShell);
}

function writePendingBoundary({ render, sink }: Turn, boundary: Boundary): void {
  const id = boundary.id.toString(16);
  sink.text(`<!--$?--><template id="${render.resources.idPrefix}B:${id}"></template>`);
}

function flushSubtree(turn: Turn, segment: Segment, hoistables: Hoistables | null): void {
  const { render, sink } = turn;
  segment.parentFlushed = true;
  if (segment.status === PENDING) {
    segment.id = render.nextSegmentId;
    render.nextSegmentId += 1;
    // Whatever stands before and after, the client has comments there.
    segment.lastText = false;
    segment.textEmbedded = false;
    sink.text(`<template id="${render.resources.idPrefix}P:${segment.id.toString(16)}"></template>`);
    return;
  }
  if (segment.status === ABORTED && profile.givenUpPlaces === 'left-out') return;
  if (segment.status !== COMPLETED) {
    throw new Error(
      'Aborted, errored or already flushed boundaries should not be flushed again. This is a bug in React.',
    );
  }
  segment.status = FLUSHED;
  for (const part of segment.parts) {
    if (typeof part === 'string') sink.text(part);
    else if (part instanceof Bytes) sink.bytes(part);
    else flushSegment(turn, part, hoistables);
  }
}

// What comes after the shell -----------------------------------------------------------------------------------------

function flushClientRendered({ render, sink }: Turn, boundary: Boundary): boolean {
  writeClientRender(render.resources, sink, boundary.id, boundary.errorDigest);
  return sink.hasCapacity();
}

function flushBoundary(turn: Turn, boundary: Boundary): boolean {
  const { render, sink } = turn;
  turn.bytes = boundary.byteSize;
  for (const segment of boundary.completedSegments) flushPart(turn, boundary, segment);
  boundary.completedSegments.length = 0;
  writeStylesForBoundary(render.resources, sink, boundary.content);
  writeCompletedBoundary(render.resources, sink, boundary);
  writeBootstrap(turn);
  return sink.hasCapacity();
}

function flushPartialBoundary(turn: Turn, boundary: Boundary): boolean {
  const { render, sink } = turn;
  turn.bytes = boundary.byteSize;
  const { completedSegments } = boundary;
  for (let at = 0; at < completedSegments.length; at += 1) {
    flushPart(turn, boundary, completedSegments[at] as Segment);
    if (sink.hasCapacity()) continue;
    completedSegments.splice(0, at + 1);
    return false;
  }
  completedSegments.length = 0;
  writeStylesForBoundary(render.resources, sink, boundary.content);
  return sink.hasCapacity();
}

function flushPart(turn: Turn, boundary: Boundary, segment: Segment): void {
  if (segment.status === FLUSHED) return;
  const { render, sink } = turn;
  const { content, rootSegmentId } = boundary;
  if (segment.id === -1) {
    if (rootSegmentId === -1) {
      throw new Error('A root segment ID must have been assigned by now. This is a bug in React.');
    }
    segment.id = rootSegmentId;
  }
  const [open, close] = segmentWrapper(segment.format.mode);
  sink.text(`${open}${render.resources.idPrefix}S:${segment.id.toString(16)}">`);
  flushSegment(turn, segment, content);
  sink.text(close);
  if (segment.id !== rootSegmentId) writeCompletedSegment(render.resources, sink, segment.id);
}
