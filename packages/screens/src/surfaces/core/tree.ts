// Tree of boxes: applies batches, decides which value of a property is in force, and steps values that move.
import { type Batch, floatsOf } from '../../stream/batch.js';
import { type Known, checkBatch } from '../../stream/check.js';
import { COMMAND, PROPERTIES } from '../../stream/codes.js';
import { COMMAND_OF, PROPERTY_OF } from '../../stream/facts.js';
import { Box, Style } from './box.js';
import { createNode, setLayout, setMeasured } from './layout.js';
import { Motion } from './motion.js';
import type { Width } from './paragraph.js';
import { DEFAULT_OF, type Transition, type Value, isSame, valueOf } from './values.js';

/** Changes since the last frame, for drawing. */
export interface Changes {
  /** Boxes with another place or another look. */
  readonly painted: Set<Box>;
  /** Boxes with other children, or the same in another order. */
  readonly reordered: Set<Box>;
  /** Boxes that are gone, each one. */
  readonly removed: Box[];
}

const OUTSIDE = -1;
/** Bits of the float that is not a number. */
const OPEN = 0x7fc0_0000;
/** Levels of widgets. Yoga's stack held 400 plain ones and 200 that wrap; an overflow breaks all trees of the process. */
const DEPTH_MAX = 160;

export class Tree implements Known {
  readonly root: Box;
  readonly boxes = new Map<number, Box>();
  readonly changes: Changes = { painted: new Set(), reordered: new Set(), removed: [] };
  readonly moving = new Set<Box>();
  focused: Box | null = null;
  isLaidOut = false;
  /** Boxes that report from the next layout on. */
  readonly reporting = new Set<Box>();
  /** Commands applied. */
  commands = 0;
  readonly depthMax = DEPTH_MAX;
  readonly #styles = new Map<number, Style>();
  readonly #widthOf: Width;
  /** Properties whose values a batch may have changed: the last word of a batch counts, and motions begin from what was shown. */
  readonly #touched = new Map<Box, Set<number>>();
  #animations: { box: Box; motion: Motion; stops: boolean }[] = [];

  constructor(widthOf: Width) {
    this.#widthOf = widthOf;
    this.root = new Box(0, createNode());
    this.root.wasDrawn = true;
    this.changes.painted.add(this.root);
  }

  parentOf(id: number): number | undefined {
    const box = this.boxes.get(id);
    return box && (box.parent?.id ?? OUTSIDE);
  }

  heightOf(id: number): number {
    return this.boxes.get(id)?.height_levels ?? 0;
  }

  countHeight(id: number): number {
    const box = this.boxes.get(id);
    return box === undefined ? 0 : countLevels(box);
  }

  hasStyle(style: number): boolean {
    return this.#styles.has(style);
  }

  /**
   * Applies a batch at a time, in milliseconds: transitions begin then, animations with the next frame.
   *
   * @throws {StreamError} if it breaks a rule; then the tree is as before.
   */
  apply(batch: Batch, time_ms: number): void {
    checkBatch(batch, this);
    const { words, length } = batch;
    const floats = floatsOf(words);
    for (let at = 0; at < length;) {
      this.commands += 1;
      at = this.#command(batch, floats, at);
    }
    for (const [box, codes] of this.#touched)
      if (this.boxes.get(box.id) === box) for (const code of codes) this.#retarget(box, code, time_ms);
    this.#touched.clear();
    for (const { box, motion, stops } of this.#animations) this.#animate(box, motion, stops);
    this.#animations = [];
  }

  /** Frees Yoga's memory, which no garbage collection does. The tree must not be used any more. */
  destroy(): void {
    for (const box of this.boxes.values()) box.node.free();
    this.boxes.clear();
    this.root.node.free();
  }

  resize(width: number, height: number): void {
    this.root.node.setWidth(width);
    this.root.node.setHeight(height);
    this.isLaidOut = false;
  }

  /** Measures all texts again: fonts have changed. */
  remeasure(): void {
    for (const box of this.boxes.values()) {
      if (!box.isMeasured) continue;
      box.node.markDirty();
      this.changes.painted.add(box);
    }
    this.isLaidOut = false;
  }

  /** Steps what moves to the time, in milliseconds, and calls for each motion that has come to its end. */
  step(time_ms: number, ended: (box: Box, code: number) => void): void {
    for (const box of this.moving) {
      let isMoving = false;
      for (const motion of box.motions?.values() ?? []) {
        if (motion.isDone) continue;
        this.#show(box, motion.code, motion.at(time_ms));
        if (!motion.isDone) {
          isMoving = true;
          continue;
        }
        if (!motion.isAnimation) box.motions?.delete(motion.code);
        ended(box, motion.code);
      }
      if (!isMoving) this.moving.delete(box);
    }
  }

  #command(batch: Batch, floats: Float32Array, at: number): number {
    const word = (offset: number): number => batch.words[at + offset] as number;
    const code = word(0) & 0xff;
    const property = (word(0) >>> 8) & 0xff;
    switch (code) {
      case COMMAND.CREATE:
        this.boxes.set(word(1), new Box(word(1), createNode()));
        break;
      case COMMAND.PLACE:
        this.#place(this.#box(word(1)), this.#box(word(2)), word(3));
        break;
      case COMMAND.REMOVE: {
        const box = this.#box(word(1));
        this.#unlink(box);
        this.#forget(box);
        break;
      }
      case COMMAND.STYLE:
      case COMMAND.FOCUS_STYLE:
        this.#share(this.#box(word(1)), code, this.#styles.get(word(2)) ?? null);
        break;
      case COMMAND.DEFINE:
        this.#define(batch, floats, at);
        return at + 3 + word(2);
      case COMMAND.FOCUS:
        this.#focus(word(1) === 0 ? null : this.#box(word(1)));
        break;
      case COMMAND.RESET:
        this.#box(word(1)).own.values.delete(property);
        this.#touch(this.#box(word(1)), property);
        break;
      case COMMAND.ANIMATE:
      case COMMAND.STOP:
        this.#plan(this.#box(word(1)), property, batch.words, floats, at);
        break;
      default: {
        const box = this.#box(word(1));
        this.#set(box.own, batch, floats, at, at + 2);
        this.#touch(box, property);
      }
    }
    return at + 1 + (COMMAND_OF[code]?.words.length ?? 0);
  }

  /** Sets what the command at `at` says in a style; its value is at `first`. */
  #set(style: Style, { words, strings }: Batch, floats: Float32Array, at: number, first: number): void {
    const code = (words[at] as number) & 0xff;
    const property = ((words[at] as number) >>> 8) & 0xff;
    const integer = words[first] as number;
    const float = floats[first] as number;
    if (code === COMMAND.TRANSITION) {
      const timing = timingOf(float, floats[first + 1] as number, words[first + 2] as number);
      style.transitions.set(property, timing);
      return;
    }
    const value = valueOf(code, PROPERTY_OF[property], integer, float, strings[integer] ?? '');
    if (value !== undefined) style.values.set(property, value);
  }

  #define(batch: Batch, floats: Float32Array, start: number): void {
    const style = new Style();
    const end = start + 3 + (batch.words[start + 2] as number);
    for (let at = start + 3; at < end;) {
      this.#set(style, batch, floats, at, at + 1);
      at += COMMAND_OF[(batch.words[at] as number) & 0xff]?.words.length ?? 0;
    }
    this.#styles.set(batch.words[start + 1] as number, style);
  }

  #place(parent: Box, box: Box, before: number): void {
    this.#unlink(box);
    const index = before === 0 ? parent.children.length : parent.children.indexOf(this.#box(before));
    parent.children.splice(index, 0, box);
    setMeasured(parent, this.#widthOf);
    parent.node.insertChild(box.node, index);
    box.parent = parent;
    let levels = box.height_levels + 1;
    for (
      let above: Box | null = parent;
      above !== null && above.height_levels < levels;
      above = above.parent
    ) {
      above.height_levels = levels;
      levels += 1;
    }
    this.changes.reordered.add(parent);
    this.changes.painted.add(box);
    this.isLaidOut = false;
  }

  #unlink(box: Box): void {
    const { parent } = box;
    if (parent === null) return;
    parent.children.splice(parent.children.indexOf(box), 1);
    parent.node.removeChild(box.node);
    setMeasured(parent, this.#widthOf);
    box.parent = null;
    this.changes.reordered.add(parent);
    this.isLaidOut = false;
  }

  #forget(box: Box): void {
    for (const child of box.children) this.#forget(child);
    this.boxes.delete(box.id);
    this.moving.delete(box);
    this.#touched.delete(box);
    this.changes.painted.delete(box);
    this.changes.reordered.delete(box);
    this.reporting.delete(box);
    this.changes.removed.push(box);
    if (this.focused === box) this.focused = null;
    box.node.free();
  }

  #share(box: Box, code: number, style: Style | null): void {
    const isFocusStyle = code === COMMAND.FOCUS_STYLE;
    const before = isFocusStyle ? box.whileFocused : box.shared;
    if (isFocusStyle) box.whileFocused = style;
    else box.shared = style;
    for (const each of [before, style])
      for (const property of each?.values.keys() ?? []) this.#touch(box, property);
  }

  #focus(box: Box | null): void {
    if (box === this.focused) return;
    for (const each of [this.focused, box]) {
      if (each === null) continue;
      each.isFocused = each === box;
      for (const code of each.whileFocused?.values.keys() ?? []) this.#touch(each, code);
    }
    this.focused = box;
  }

  #plan(box: Box, code: number, words: Int32Array, floats: Float32Array, at: number): void {
    const property = PROPERTY_OF[code];
    if (property === undefined || !property.animates) return;
    const stops = ((words[at] as number) & 0xff) === COMMAND.STOP;
    const float = (offset: number): number => (stops ? 0 : (floats[at + offset] as number));
    const word = (offset: number): number => (stops ? 0 : (words[at + offset] as number));
    const isColor = property.type === 'color';
    // A colour is in the bits of its word. Those of "not a number" are no colour there.
    const from = !isColor ? float(2) : word(2) === OPEN ? Number.NaN : word(2) >>> 0;
    const to = isColor ? word(3) >>> 0 : float(3);
    if (!Number.isFinite(to) || Math.abs(from) === Number.POSITIVE_INFINITY) return;
    const timing = timingOf(float(4), float(5), word(6));
    this.#animations.push({ box, motion: new Motion(code, from, to, timing, Number.NaN, word(7)), stops });
  }

  #animate(box: Box, planned: Motion, stops: boolean): void {
    if (this.boxes.get(box.id) !== box) return;
    box.motions ??= new Map();
    if (stops) {
      if (box.motions.get(planned.code)?.isAnimation !== true) return;
      box.motions.delete(planned.code);
      this.#show(box, planned.code, box.target(planned.code));
      return;
    }
    const motion = Number.isNaN(planned.from) ? planned.withFrom(box.number(planned.code)) : planned;
    box.motions.set(planned.code, motion);
    this.moving.add(box);
  }

  #touch(box: Box, code: number): void {
    const codes = this.#touched.get(box);
    if (codes === undefined) this.#touched.set(box, new Set([code]));
    else codes.add(code);
  }

  /** Gives a property the value that its styles say now: at once, or on its way. An animation hides it. */
  #retarget(box: Box, code: number, time_ms: number): void {
    const property = PROPERTY_OF[code];
    if (property === undefined) return;
    const motion = box.motions?.get(code);
    if (motion?.isAnimation) return;
    const target = box.target(code);
    if (isSame(motion === undefined ? box.get(code) : motion.to, target)) return;
    // Frames may be few: a value on its way is where it is by now, not where it was drawn.
    const from = motion === undefined ? box.get(code) : motion.at(time_ms);
    box.motions?.delete(code);
    const timing = property.animates && box.wasDrawn ? box.transition(code) : undefined;
    if (timing === undefined || timing.duration_ms + timing.delay_ms <= 0)
      return this.#show(box, code, target);
    box.motions ??= new Map();
    box.motions.set(code, new Motion(code, from as number, target as number, timing, time_ms));
    this.moving.add(box);
  }

  #show(box: Box, code: number, value: Value): void {
    if (isSame(box.get(code), value)) return;
    if (isSame(DEFAULT_OF[code] as Value, value)) box.shown.delete(code);
    else box.shown.set(code, value);
    this.changes.painted.add(box);
    if (code === PROPERTIES.zIndex.code && box.parent !== null) this.changes.reordered.add(box.parent);
    if (code === PROPERTIES.text.code) setMeasured(box, this.#widthOf);
    if (code === PROPERTIES.reports.code && value === 1) {
      this.reporting.add(box);
      this.isLaidOut = false;
    }
    if (PROPERTY_OF[code]?.group !== 'layout') return;
    setLayout(box, code, value);
    this.isLaidOut = false;
  }

  /** The root for 0. Batches are checked before: there is such a box. */
  #box(id: number): Box {
    return id === 0 ? this.root : (this.boxes.get(id) as Box);
  }
}

const timingOf = (duration: number, delay: number, easing: number): Transition => ({
  duration_ms: Number.isFinite(duration) ? Math.max(duration, 0) : 0,
  delay_ms: Number.isFinite(delay) ? Math.max(delay, 0) : 0,
  easing,
});

/** Counts the levels below a box, and notes them in it and all below. */
function countLevels(box: Box): number {
  let levels = 0;
  for (const child of box.children) levels = Math.max(levels, countLevels(child) + 1);
  box.height_levels = levels;
  return levels;
}
