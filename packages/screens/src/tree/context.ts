/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Contexts: a new value of a provider marks the nodes below that read it. */
import { OFFSCREEN, PROVIDER, SUSPENSE, type Node } from './node.js';
import type { Context } from './react.js';
import { work } from './work.js';

/** Marks all below that read the context; true if there is one. */
export function propagate(node: Node, context: Context): boolean {
  const { lanes } = work;
  let found = false;
  const { kids } = node;
  for (let i = 0; i < kids.length; i++) {
    const kid = kids[i]!;
    if (kid === null) continue;
    if (kid.contexts !== null && reads(kid.contexts, context)) {
      kid.lanes |= lanes;
      found = true;
    }
    // What suspends may have been about to read it.
    if (kid.kind === SUSPENSE && kid.kids[0]!.kind === OFFSCREEN && kid.kids[0]!.state === true) {
      kid.lanes |= lanes;
      found = true;
    }
    if (kid.kind === PROVIDER && kid.component === context) continue;
    if (propagate(kid, context)) {
      kid.childLanes |= lanes;
      found = true;
    }
  }
  if (found) node.childLanes |= lanes;
  return found;
}

function reads(contexts: readonly unknown[], context: Context): boolean {
  for (let i = 0; i < contexts.length; i += 2) if (contexts[i] === context) return true;
  return false;
}
