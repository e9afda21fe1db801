/** The document's own tags may stand in content that is still to come: the shell is not sent before they are known. */
import { BODY_PART, HEAD_PART, HTML_PART, type Preamble } from './resources.js';
import { COMPLETED, ERRORED, Segment, type Render } from './render.js';

/** Notes which segments go into the document's head, once its tags are settled. */
export function preparePreamble(render: Render): void {
  const { completedRootSegment: root } = render;
  if (root === null || render.completedPreambleSegments !== null) return;
  const { byteSize } = render;
  const collected: Segment[][] = [];
  const isPending = collectFromSegment(render, root, collected);
  const { head, body } = render.resources.preamble;
  if (!isPending || (head !== null && body !== null)) render.completedPreambleSegments = collected;
  else render.byteSize = byteSize;
}

function collectFromSubtree(render: Render, segment: Segment, collected: Segment[][]): boolean {
  if (segment.preambleChildren !== null) collected.push(segment.preambleChildren);
  let isPending = false;
  for (const part of segment.parts) {
    if (part instanceof Segment && collectFromSegment(render, part, collected)) isPending = true;
  }
  return isPending;
}

/** True when tags of the document may still come from there. */
function collectFromSegment(render: Render, segment: Segment, collected: Segment[][]): boolean {
  const { boundary } = segment;
  if (boundary === null) return collectFromSubtree(render, segment, collected);
  if (boundary.preamble === null) return false;
  if (boundary.status === COMPLETED) {
    hoist(render, boundary.preamble.content);
    render.byteSize += boundary.byteSize;
    return collectFromSubtree(render, boundary.completedSegments[0] as Segment, collected);
  }
  if (boundary.status === ERRORED && segment.status === COMPLETED) {
    hoist(render, boundary.preamble.fallback);
    return collectFromSubtree(render, segment, collected);
  }
  return true;
}

function hoist(render: Render, from: Preamble): void {
  const { preamble } = render.resources;
  const takes = (part: 'html' | 'head' | 'body', bit: number): void => {
    if (preamble[part] !== null || from[part] === null) return;
    preamble[part] = from[part];
    from.contribution |= bit;
  };
  takes('html', HTML_PART);
  takes('head', HEAD_PART);
  takes('body', BODY_PART);
}
