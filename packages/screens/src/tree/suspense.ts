/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Suspense: renders the children; if they wait for something, goes back and renders the fallback. */
import { deleteNode, reconcile } from './children.js';
import { createFragment } from './create.js';
import { ABANDONED, wakeableOf, type Wakeable } from './errors.js';
import { PATIENT, RETRY } from './lanes.js';
import { NO_KIDS, Node, OFFSCREEN, RETRY_LISTENERS, VISIBILITY } from './node.js';
import type { Props } from './react.js';
import { complete, mount, revisit, visitKids } from './render.js';
import { pingWhen } from './schedule.js';
import { Mark, log, rollback, work } from './work.js';

export class BoundaryData {
  /** Promises of the children in the last render, and of boundaries among them whose fallbacks waited, too. */
  waitsFor: readonly Wakeable[] = [];
  /** The boundary, while promises retry it; null once it is deleted. */
  node: Node | null = null;
  /** Promises that retry the boundary. */
  readonly listened = new Set<Wakeable>();
  /** Lane of a value that the children deferred in the render that runs. */
  deferred = 0;
}

export function renderSuspense(node: Node, props: Props, mounting: boolean): void {
  if (mounting) {
    node.data = new BoundaryData();
    node.kids = [new Node(OFFSCREEN, null, null, node)];
    node.kids[0]!.flags = 0;
  }
  node.props = props;
  attempt(node, mounting, true);
}

/** Goes down to updates below a Suspense that is not rendered itself. */
export function descendSuspense(node: Node): void {
  const offscreen = node.kids[0]!;
  if (offscreen.state !== true) attempt(node, false, false);
  else if (((offscreen.lanes | offscreen.childLanes) & work.lanes) !== 0) attempt(node, false, true);
  else visitKids(node);
}

function attempt(node: Node, mounting: boolean, renders: boolean): void {
  const offscreen = node.kids[0]!;
  const hidden = offscreen.state === true;
  const { shell, boundary, lanes, rootLanes } = work;
  const { kids, childLanes } = node;
  const data = node.data as BoundaryData;
  data.waitsFor = [];
  const met = work.met.length;
  data.deferred = 0;
  const mark = new Mark();
  if (shell === null && (mounting || hidden || work.revealing > 0)) work.shell = node;
  work.boundary = node;
  try {
    if (!mounting) log(offscreen);
    offscreen.flags = 0;
    if (hidden) {
      if (kids.length > 1) {
        deleteNode(kids[1]!);
        node.kids = [offscreen];
      }
      work.lanes |= offscreen.hooks as number;
      work.revealing++;
      offscreen.state = false;
      offscreen.hooks = 0;
    }
    offscreen.lanes = 0;
    offscreen.childLanes &= ~work.lanes;
    if (renders) reconcile(offscreen, node.props.children);
    else visitKids(offscreen);
    if (hidden) {
      work.revealing--;
      work.lanes = lanes;
      offscreen.flags |= VISIBILITY;
      complete(offscreen);
    }
    work.shell = shell;
    work.boundary = boundary;
    return;
  } catch (thrown) {
    const wakeable = wakeableOf(thrown);
    if (wakeable === null) throw thrown;
    const inShell = work.shell === null;
    rollback(mark);
    node.kids = kids;
    if (mounting) offscreen.kids = NO_KIDS;
    pingWhen(wakeable, rootLanes);
    // What is on the screen stays, as long as nothing urgent asks for a change.
    if (inShell && ((rootLanes & PATIENT) === rootLanes || (rootLanes & RETRY) === rootLanes))
      throw ABANDONED;
    work.met.push(wakeable);
    data.waitsFor = work.met.slice(met);
  }
  fallBack(node, offscreen, mounting, hidden, childLanes);
}

function fallBack(node: Node, offscreen: Node, mounting: boolean, hidden: boolean, childLanes: number): void {
  const data = node.data as BoundaryData;
  if (!mounting) log(offscreen);
  offscreen.lanes = 0;
  // Updates that wait in the fallback count for the content, too: as in React, their render tries it.
  offscreen.childLanes = ((offscreen.childLanes | childLanes) & ~work.lanes) | data.deferred;
  offscreen.hooks = ((offscreen.hooks as number | null) ?? 0) | work.lanes;
  offscreen.flags = 0;
  offscreen.state = true;
  if (!hidden && !mounting) {
    offscreen.flags |= VISIBILITY;
    complete(offscreen);
  }
  const { fallback } = node.props;
  if (node.kids.length > 1) revisit(node.kids[1]!, fallback, null);
  else {
    const fragment = createFragment(fallback, node);
    node.kids = [offscreen, fragment];
    mount(fragment);
  }
  node.flags |= RETRY_LISTENERS;
  complete(node);
}
