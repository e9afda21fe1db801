/**
 * Surface without pictures: for tests, and for servers that want to know a screen's layout. Only `advance` moves its clock. Text has
 * fixed metrics: every character is half as wide as its font's size.
 */
import { PROPERTIES } from '../stream/codes.js';
import { PHASE } from '../stream/events.js';
import { PROPERTY_OF } from '../stream/facts.js';
import type { Box } from './core/box.js';
import { fixedWidth } from './core/paragraph.js';
import { Scene } from './core/scene.js';
import { Percent, type Value } from './core/values.js';
import type { EventListener, Surface } from './surface.js';

export type { EventListener, Surface } from './surface.js';
export { StreamError } from '../stream/errors.js';

export interface HeadlessOptions {
  /** Pixels, 1280 by default. */
  readonly width?: number;
  /** Pixels, 720 by default. */
  readonly height?: number;
  /** Milliseconds between two frames, 16 by default. */
  readonly frame_ms?: number;
  /** Milliseconds that idle work is told to have, 10 by default. */
  readonly idle_ms?: number;
  /** Whether the picture of this address can be had; all can by default. */
  readonly hasImage?: (address: string) => boolean;
}

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export class HeadlessSurface implements Surface {
  readonly #scene: Scene;
  readonly #options: Required<HeadlessOptions>;
  readonly #idle: ((deadline: () => number) => void)[] = [];
  /** Images whose state has been reported, by widget. */
  readonly #images = new WeakMap<Box, string>();
  #now_ms = 0;
  #frames = 0;

  constructor(options: HeadlessOptions = {}) {
    this.#options = { width: 1280, height: 720, frame_ms: 16, idle_ms: 10, hasImage: () => true, ...options };
    this.#scene = new Scene(this.#options.width, this.#options.height, fixedWidth);
  }

  get width(): number {
    return this.#scene.width;
  }

  get height(): number {
    return this.#scene.height;
  }

  now(): number {
    return this.#now_ms;
  }

  commit(words: Int32Array, length: number, strings: readonly string[], cause: number): void {
    this.#scene.commit({ words, length, strings, cause }, this.#now_ms);
  }

  listen(listener: EventListener): void {
    this.#scene.listen(listener);
  }

  requestIdle(run: (deadline: () => number) => void): void {
    this.#idle.push(run);
  }

  /** Lets time pass, frame by frame: values move, events reach the listener, and idle work runs after each frame. 0 is one frame. */
  advance(ms: number): void {
    const end_ms = this.#now_ms + ms;
    do {
      this.#now_ms = Math.min(this.#now_ms + this.#options.frame_ms, end_ms);
      this.#frame();
      for (const run of this.#idle.splice(0)) run(() => this.#options.idle_ms);
    } while (this.#now_ms < end_ms);
  }

  /** Presses a key, repeats it so many times, and releases it. The listener hears each at once; frames come with `advance`. */
  press(key: string, repeats = 0): void {
    this.keyDown(key);
    for (let repeat = 0; repeat < repeats; repeat += 1) this.keyDown(key, true);
    this.keyUp(key);
  }

  keyDown(key: string, isRepeat = false): void {
    this.#scene.key(isRepeat ? PHASE.REPEATED : PHASE.PRESSED, this.#now_ms, key);
    this.#scene.send();
  }

  keyUp(key: string): void {
    this.#scene.key(PHASE.RELEASED, this.#now_ms, key);
    this.#scene.send();
  }

  /** Says that memory is enough (0), low (1) or almost none (2). */
  memory(level: 0 | 1 | 2): void {
    this.#scene.events.memory(level);
    this.#scene.send();
  }

  resize(width: number, height: number): void {
    this.#scene.resize(width, height);
    this.#scene.send();
  }

  /** Frees the memory of the layout, which no garbage collection does. The surface must not be used any more. */
  destroy(): void {
    this.#scene.tree.destroy();
  }

  /** Widgets alive, those outside the tree included. */
  get widgets(): number {
    return this.#scene.tree.boxes.size;
  }

  /** Commands applied so far. */
  get commands(): number {
    return this.#scene.tree.commands;
  }

  /** Frames so far. */
  get frames(): number {
    return this.#frames;
  }

  /** Whether a transition or animation runs. */
  get isMoving(): boolean {
    return this.#scene.isMoving;
  }

  /** Number of the widget that has the focus, 0 for none. */
  get focused(): number {
    return this.#scene.tree.focused?.id ?? 0;
  }

  /** Place of a widget after layout; undefined if there is no such widget. */
  rect(id: number): Rect | undefined {
    this.#scene.layOut();
    const box = this.#scene.tree.boxes.get(id);
    return box && { x: box.x, y: box.y, width: box.width, height: box.height };
  }

  /** Value of a property in force, as apps write it; undefined if there is no such widget. */
  value(id: number, property: keyof typeof PROPERTIES): number | string | boolean | undefined {
    const box = this.#scene.tree.boxes.get(id);
    return box && written(PROPERTIES[property].code, box.get(PROPERTIES[property].code));
  }

  /**
   * Picture of the tree in text: a widget in a line, with place, size, and the values of paint that are not the default.
   * The one with the focus begins with `*`.
   */
  tree(): string {
    this.#scene.layOut();
    return this.#scene.tree.root.children.map((child) => picture(child, '')).join('');
  }

  #frame(): void {
    this.#frames += 1;
    const scene = this.#scene;
    scene.advance(this.#now_ms);
    for (const box of scene.tree.changes.painted) this.#image(box);
    scene.drawn(this.#now_ms, 0);
    scene.send();
  }

  #image(box: Box): void {
    const address = box.text(PROPERTIES.image.code);
    if (!box.reports || address === (this.#images.get(box) ?? '')) return;
    this.#images.set(box, address);
    if (address !== '') this.#scene.events.image(box.id, this.#options.hasImage(address) ? 1 : 2);
  }
}

function picture(box: Box, indent: string): string {
  if (box.isHidden) return `${indent}${box.id} hidden\n`;
  const values = [...box.shown]
    .filter(([code]) => PROPERTY_OF[code]?.group === 'paint' || code === PROPERTIES.text.code)
    .sort(([one], [other]) => one - other)
    .map(([code, value]) => ` ${PROPERTY_OF[code]?.name}=${JSON.stringify(written(code, value))}`);
  const line = `${indent}${box.isFocused ? '*' : ''}${box.id} ${box.x},${box.y} ${box.width}x${box.height}${values.join('')}\n`;
  return line + box.children.map((child) => picture(child, `${indent}  `)).join('');
}

function written(code: number, value: Value): number | string | boolean {
  if (value instanceof Percent) return `${value.value}%`;
  const property = PROPERTY_OF[code];
  if (typeof value === 'string' || property === undefined) return value;
  if (property.type === 'color') return `#${value.toString(16).padStart(8, '0')}`;
  if (property.type === 'flag') return value === 1;
  if (property.type === 'choice') return property.values?.[value] ?? value;
  return Number.isNaN(value) ? 'auto' : value;
}
