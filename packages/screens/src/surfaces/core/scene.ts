// Scene: a tree with its frames and events. What all surfaces written in JavaScript share; drawing is apart.
import type { Batch } from '../../stream/batch.js';
import { PROPERTIES } from '../../stream/codes.js';
import { EventWriter } from '../../stream/events.js';
import type { EventListener } from '../surface.js';
import type { Box } from './box.js';
import type { Width } from './paragraph.js';
import { Tree } from './tree.js';

/** Causes kept until the next frame; one more drops the oldest. */
const CAUSES_MAX = 64;

export class Scene {
  readonly tree: Tree;
  /** Events not yet handed over. */
  readonly events = new EventWriter();
  width: number;
  height: number;
  #listener: EventListener = () => undefined;
  #causes: number[] = [];
  #keys = 0;

  constructor(width: number, height: number, widthOf: Width) {
    this.tree = new Tree(widthOf);
    this.width = width;
    this.height = height;
    this.tree.resize(width, height);
  }

  listen(listener: EventListener): void {
    this.#listener = listener;
  }

  /** @throws {StreamError} if the batch breaks a rule; then nothing of it is applied. */
  commit(batch: Batch, time_ms: number): void {
    const { boxes, changes } = this.tree;
    const removed = changes.removed.length;
    this.tree.apply(batch, time_ms);
    // The next batch may give their numbers to other widgets.
    if (changes.removed.length > removed && this.events.length > 0)
      this.events.forget((id) => !boxes.has(id));
    if (this.#causes.includes(batch.cause)) return;
    this.#causes.push(batch.cause);
    if (this.#causes.length > CAUSES_MAX) this.#causes.shift();
  }

  /** Whether a frame would show something new. */
  get isStale(): boolean {
    const { changes, isLaidOut } = this.tree;
    return (
      !isLaidOut ||
      this.#causes.length > 0 ||
      changes.painted.size + changes.reordered.size + changes.removed.length > 0
    );
  }

  get isMoving(): boolean {
    return this.tree.moving.size > 0;
  }

  /** Brings values and places to the time, in milliseconds. Then what draws takes `tree.changes`, and calls `drawn`. */
  advance(time_ms: number): void {
    this.tree.step(time_ms, (box, code) => {
      if (box.reports) this.events.animationEnd(box.id, code);
    });
    this.layOut();
  }

  /** Lays out what has changed. */
  layOut(): void {
    const { tree } = this;
    if (tree.isLaidOut) return;
    tree.root.node.calculateLayout(this.width, this.height);
    tree.isLaidOut = true;
    this.#place(tree.root, 0, 0, false);
    for (const box of tree.reporting) this.#report(box);
    tree.reporting.clear();
  }

  /** Ends a frame: batches so far are on the screen. */
  drawn(time_ms: number, duration_ms: number): void {
    const { painted, reordered, removed } = this.tree.changes;
    for (const box of painted) box.wasDrawn ||= isInTree(box);
    painted.clear();
    reordered.clear();
    removed.length = 0;
    for (const cause of this.#causes) this.events.frame(cause, time_ms, duration_ms);
    this.#causes = [];
  }

  /** Hands events to the listener. */
  send(): void {
    const { words, length, strings } = this.events;
    if (length === 0) return;
    // The listener may commit, and so lead to new events.
    const own = words.slice(0, length);
    this.events.clear();
    this.#listener(own, length, strings);
  }

  /** Notes a key and returns its number. */
  key(phase: number, time_ms: number, key: string): number {
    this.#keys += 1;
    this.events.key(phase, this.#keys, time_ms, key);
    return this.#keys;
  }

  resize(width: number, height: number): void {
    if (width === this.width && height === this.height) return;
    this.width = width;
    this.height = height;
    this.tree.resize(width, height);
    this.events.resize(width, height);
  }

  #report(box: Box): void {
    if (!box.isHidden && !Number.isNaN(box.x))
      this.events.layout(box.id, box.x, box.y, box.width, box.height);
  }

  /** Takes over the places from Yoga, below the boxes that it has laid out again or whose place is another one. */
  #place(box: Box, left: number, top: number, hasMoved: boolean): void {
    const { node } = box;
    const isNew = node.hasNewLayout();
    if (!isNew && !hasMoved) return;
    node.markLayoutSeen();
    const x = left + node.getComputedLeft();
    const y = top + node.getComputedTop();
    const width = node.getComputedWidth();
    const height = node.getComputedHeight();
    const moved = x !== box.x || y !== box.y;
    if (moved || width !== box.width || height !== box.height) {
      box.x = x;
      box.y = y;
      box.width = width;
      box.height = height;
      this.tree.changes.painted.add(box);
      if (box.reports && !this.tree.reporting.has(box)) this.#report(box);
    }
    if (!box.isHidden) for (const child of box.children) this.#place(child, x, y, moved || hasMoved);
  }
}

function isInTree(box: Box): boolean {
  for (let above: Box | null = box; above !== null; above = above.parent)
    if (above.get(PROPERTIES.display.code) === 1) return false;
    else if (above.id === 0) return true;
  return false;
}
