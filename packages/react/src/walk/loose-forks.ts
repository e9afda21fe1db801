/**
 * Forks of ids in React 18. There a component that asks for ids does not begin a place at which rendering may resume. Parts that wait below
 * it resume from a place further out, and so without the step in the tree of ids that the component has made.
 */
import { SUSPENSE, type ElementLike } from '../facts/react.js';
import { templateOf } from '../facts/template.js';
import { forkedId, type TreeId } from '../facts/tree-id.js';
import { profile } from '../facts/profile.js';
import type { LooseFork, Render } from '../state/render.js';

export function pushLooseFork(render: Render): void {
  render.looseForks.push({ depth: render.depth, fork: render.forks });
  render.pushFork(1, 0);
}

export function popLooseFork(render: Render): void {
  render.looseForks.pop();
  render.forks -= 1;
}

/** Drops the forks below `depth`, which a throw has left. */
export function dropLooseForks({ looseForks }: Render, depth: number): void {
  while ((looseForks.at(-1)?.depth ?? 0) > depth) looseForks.pop();
}

/** Returns the way to the place from which what waits here resumes. */
export function treeIdOfPlace(render: Render): TreeId {
  if (profile.idPlaces === 'own') return render.currentTreeId();
  const { looseForks, treeId, forkLengths, forkIndexes } = render;
  let { forks } = render;
  for (let at = looseForks.length - 1; at >= 0; at -= 1) {
    const { depth, fork } = looseForks[at] as LooseFork;
    if (fork !== forks - 1 || render.nodes.slice(depth, render.depth).some(beginsPlace)) break;
    forks -= 1;
  }
  return forkedId(treeId, forkLengths, forkIndexes, forks);
}

/** Host elements, arrays, what stands in a template, and the content of a boundary. */
function beginsPlace(node: unknown): boolean {
  const { $$typeof: kind } = node as Partial<ElementLike>;
  if (kind === undefined || templateOf(node as object) !== undefined) return true;
  const { type } = node as ElementLike;
  return typeof type === 'string' || type === SUSPENSE;
}
