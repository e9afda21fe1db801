/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Commit: what a render found is done, in React's order: snapshots, changes, layout effects, and later passive effects. */
import { classProps, type ClassData } from '../classes.js';
import { EFFECT_INSERTION, EFFECT_LAYOUT, EFFECT_PASSIVE } from '../hooks/cursor.js';
import { commitEvents } from '../hooks/effects.js';
import * as flag from '../node.js';
import { CLASS, NO_KIDS, OFFSCREEN, ROOT, SUSPENSE, WIDGET, type Node } from '../node.js';
import type { Root } from '../root.js';
import { SYNC } from '../lanes.js';
import { markUpdate, noteFallback, retryWhen } from '../schedule.js';
import type { BoundaryData } from '../suspense.js';
import { work } from '../work.js';
import { deletePassive, deleteSubtree } from './deletion.js';
import { cleanUp, failed, runEffects } from './effects.js';
import { attachRef, detachRef } from './refs.js';
import { disappear, reappear } from './visibility.js';

/** Nodes of the last commit whose passive effects have not run yet. */
let passive: Node[] = [];
let waits = false;

export function hasPassiveEffects(): boolean {
  return waits;
}

/** Brings the surface to what was rendered. An error of the renderer or the surface empties the root, which reports it. */
export function commitRoot(root: Root): void {
  const { effects, hosts } = work;
  // The list goes on to the passive phase; the next render gets the other one.
  work.effects = passive;
  passive = effects;
  try {
    commitEffects(root, effects, hosts);
  } catch (error) {
    fail(root, effects, hosts, error);
  }
}

function commitEffects(root: Root, effects: Node[], hosts: Node[]): void {
  if (work.early) takeSnapshots(effects);
  const { output } = root;
  for (let i = 0; i < effects.length; i++) {
    const node = effects[i]!;
    if (node.kind === WIDGET && (node.flags & ~flag.HOST) === flag.UPDATE) {
      node.flags &= flag.HOST;
      output.update(node);
    } else if ((node.flags & flag.DELETED) !== 0)
      deleteSubtree(node, !root.hasLayout || (node.flags & flag.WAS_HIDDEN) !== 0, node.parent);
    else change(node, root);
  }
  for (let i = 0; i < hosts.length; i++) {
    const host = hosts[i]!;
    host.flags &= ~flag.HOST;
    output.placeChildren(host);
  }
  hosts.length = 0;
  output.changed();
  for (let i = 0; i < effects.length; i++) {
    const node = effects[i]!;
    const { flags } = node;
    if (flags === 0 || (!root.hasLayout && node.kind !== ROOT)) continue;
    if ((flags & (flag.DELETED | flag.WAS_HIDDEN)) === 0) layout(node);
    if ((flags & (flag.PASSIVE | flag.DELETED)) !== 0 && !root.isStill) waits = true;
  }
  output.send();
  if (!waits) {
    clear(effects);
    passive = effects;
  }
}

/**
 * Ends a commit that failed: nothing of its lists may reach another commit, which may be that of another root. The tree is deleted with all
 * cleanups, since only parts of it are on the surface.
 */
function fail(root: Root, effects: Node[], hosts: Node[], error: unknown): void {
  for (let i = 0; i < hosts.length; i++) hosts[i]!.flags &= ~flag.HOST;
  hosts.length = 0;
  const { node } = root;
  const deleted: Node[] = [];
  for (const each of effects) {
    if ((each.flags & flag.DELETED) !== 0) deleted.push(each);
    else each.flags &= flag.GONE;
  }
  effects.length = 0;
  waits = false;
  const { kids } = node;
  node.kids = NO_KIDS;
  node.state = null;
  node.childLanes = 0;
  for (const kid of kids) if (kid !== null) deleted.push(kid);
  for (const gone of deleted) {
    const { flags } = gone;
    if ((flags & flag.GONE) === 0)
      deleteSubtree(gone, !root.hasLayout || (flags & flag.WAS_HIDDEN) !== 0, node);
    gone.flags = root.isStill ? flag.GONE : flag.GONE | flag.DELETED;
    if (root.isStill) continue;
    effects.push(gone);
    waits = true;
  }
  root.output.abandon();
  // The next commit also sends what empties the surface. If that was this one, the surface gets it with the next batch.
  if (kids.length > 0) markUpdate(node, root, root.failure(error, SYNC));
  else root.uncaught(error);
}

function clear(effects: Node[]): void {
  for (let i = 0; i < effects.length; i++) effects[i]!.flags &= flag.GONE;
  effects.length = 0;
}

function takeSnapshots(effects: readonly Node[]): void {
  for (let i = 0; i < effects.length; i++) {
    const node = effects[i]!;
    const { flags } = node;
    if ((flags & flag.DELETED) !== 0) continue;
    if ((flags & flag.EVENTS) !== 0) commitEvents(node.hooks as unknown[]);
    if ((flags & flag.SNAPSHOT) === 0 || (flags & flag.WAS_HIDDEN) !== 0) continue;
    const data = node.data as ClassData;
    try {
      data.snapshot = node.instance.getSnapshotBeforeUpdate(
        classProps(node.component, data.previousProps),
        data.previousState,
      );
    } catch (error) {
      failed(node.parent, error);
    }
  }
}

function change(node: Node, root: Root): void {
  const { flags } = node;
  switch (node.kind) {
    case WIDGET:
      if ((flags & flag.REF) !== 0 && (flags & flag.WAS_HIDDEN) === 0) detachRef(node, node.parent);
      if ((flags & flag.UPDATE) !== 0) root.output.update(node);
      return;
    case CLASS:
      if ((flags & flag.REF) !== 0 && (flags & flag.WAS_HIDDEN) === 0) detachRef(node, node.parent);
      return;
    case OFFSCREEN:
      if ((flags & flag.VISIBILITY) === 0) return;
      noteFallback(root.surface.now());
      if (node.state === true && (flags & flag.WAS_HIDDEN) === 0) disappear(node);
      root.output.setHidden(node, node.state === true);
      return;
    case SUSPENSE:
      if ((flags & flag.RETRY_LISTENERS) !== 0) {
        for (const wakeable of (node.data as BoundaryData).waitsFor) retryWhen(node, wakeable);
        noteFallback(root.surface.now());
      }
      return;
    case ROOT:
      return;
    default:
      if ((flags & (flag.INSERTION | flag.LAYOUT)) === 0 || !root.hasLayout) return;
      cleanUp(node, EFFECT_INSERTION, false, node.parent);
      runEffects(node, EFFECT_INSERTION, false);
      cleanUp(node, EFFECT_LAYOUT, false, node.parent);
  }
}

function layout(node: Node): void {
  const { flags } = node;
  switch (node.kind) {
    case WIDGET:
      if ((flags & flag.REF) !== 0) attachRef(node);
      return;
    case CLASS:
      layoutClass(node);
      return;
    case OFFSCREEN:
      if ((flags & flag.VISIBILITY) !== 0 && node.state !== true) reappear(node);
      return;
    case ROOT: {
      const root = node.instance as Root;
      const { callbacks } = root;
      root.callbacks = null;
      if (callbacks !== null) for (const callback of callbacks) callback();
      return;
    }
    default:
      if ((flags & flag.LAYOUT) !== 0) runEffects(node, EFFECT_LAYOUT, false);
  }
}

function layoutClass(node: Node): void {
  const { flags, instance } = node;
  const data = node.data as ClassData;
  try {
    if ((flags & flag.MOUNT) !== 0) instance.componentDidMount();
    else if ((flags & flag.UPDATE) !== 0)
      instance.componentDidUpdate(
        classProps(node.component, data.previousProps),
        data.previousState,
        data.snapshot,
      );
  } catch (error) {
    failed(node.parent, error);
  }
  if ((flags & flag.CALLBACK) !== 0 && data.callbacks !== null) {
    const { callbacks } = data;
    data.callbacks = null;
    try {
      for (const callback of callbacks) callback.call(instance);
    } catch (error) {
      failed(node.parent, error);
    }
  }
  if ((flags & flag.REF) !== 0) attachRef(node);
}

/** Runs the passive effects of the last commit: all cleanups, then all effects. */
export function flushPassiveEffects(): void {
  const effects = passive;
  waits = false;
  passive = [];
  try {
    for (let i = 0; i < effects.length; i++) {
      const node = effects[i]!;
      if ((node.flags & flag.DELETED) !== 0) deletePassive(node, node.parent);
      else if ((node.flags & flag.PASSIVE) !== 0) cleanUp(node, EFFECT_PASSIVE, false, node.parent);
    }
    for (let i = 0; i < effects.length; i++) {
      const node = effects[i]!;
      if ((node.flags & (flag.PASSIVE | flag.DELETED)) === flag.PASSIVE)
        runEffects(node, EFFECT_PASSIVE, false);
    }
  } finally {
    clear(effects);
    passive = effects;
  }
}
