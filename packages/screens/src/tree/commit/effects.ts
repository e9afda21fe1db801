/** Running of effects: the functions of a component's hooks. */
import { CLASS, GONE, ROOT, type Node, type Queue, type Update } from '../node.js';
import { FIRE, KIND, STRIDE } from '../hooks/cursor.js';
import { captureUpdate, catches, type ClassData } from '../classes.js';
import type { Cleanup, Create } from '../hooks/effects.js';
import { SYNC } from '../lanes.js';
import type { Root } from '../root.js';
import { markUpdate } from '../schedule.js';

/** Gives an error of a commit to the nearest boundary from `from` on, or to the root. */
export function failed(from: Node | null, error: unknown): void {
  for (let node = from; node !== null; node = node.parent) {
    if (node.kind === ROOT) {
      const root = node.instance as Root;
      const update = root.failure(error, SYNC);
      if (!gives(node, root, update)) markUpdate(node, root, update);
      return;
    }
    if (
      node.kind === CLASS &&
      (node.flags & GONE) === 0 &&
      catches(node) &&
      gives(node, node.data as ClassData, captureUpdate(node, error, SYNC))
    )
      return;
  }
}

/** False at the limit of nested updates, which ends with that: a boundary that fails again and again leaves its errors to those above. */
function gives(node: Node, queue: Queue, update: Update): boolean {
  try {
    markUpdate(node, queue, update);
    return true;
  } catch {
    return false;
  }
}

/** Runs the effects of one kind that fire, or all of them. */
export function runEffects(node: Node, kind: number, all: boolean): void {
  const hooks = node.hooks as unknown[] | null;
  if (hooks === null) return;
  try {
    for (let i = 0; i < hooks.length; i += STRIDE) {
      const slot = hooks[i] as number;
      if ((slot & KIND) !== kind || !(all || (slot & FIRE) !== 0)) continue;
      const create = hooks[i + 1] as Create;
      hooks[i + 3] = create();
    }
  } catch (error) {
    failed(node.parent, error);
  }
}

/** Runs the cleanups of the effects of one kind that fire, or of all of them. `above` is where their errors go. */
export function cleanUp(node: Node, kind: number, all: boolean, above: Node | null): void {
  const hooks = node.hooks as unknown[] | null;
  if (hooks === null) return;
  for (let i = 0; i < hooks.length; i += STRIDE) {
    const slot = hooks[i] as number;
    if ((slot & KIND) !== kind || !(all || (slot & FIRE) !== 0)) continue;
    const cleanup = hooks[i + 3] as Cleanup | undefined;
    if (cleanup === undefined) continue;
    hooks[i + 3] = undefined;
    try {
      cleanup();
    } catch (error) {
      failed(above, error);
    }
  }
}
