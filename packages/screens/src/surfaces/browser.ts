/** Surface of a browser: PixiJS draws by WebGL, Yoga lays out. Frames are drawn only after a batch, and while something moves. */
import { Container, WebGLRenderer } from 'pixi.js';
import type { Box } from './core/box.js';
import { Scene } from './core/scene.js';
import { Images } from './drawing/images.js';
import { listenToKeys } from './drawing/keys.js';
import { canvasWidth } from './drawing/letters.js';
import { type Drawing, View } from './drawing/view.js';
import type { EventListener, Surface } from './surface.js';

export type { EventListener, Surface } from './surface.js';
export { StreamError } from '../stream/errors.js';

export interface BrowserOptions {
  /** Element that gets the canvas; `document.body` by default. */
  readonly parent?: HTMLElement;
  /** Pixels of the surface. Without width and height it has the parent's size, and follows it. */
  readonly width?: number;
  readonly height?: number;
  /** Colour behind all widgets, 0xRRGGBB; black by default. */
  readonly background?: number;
  /** Device pixels to a pixel; `devicePixelRatio` by default. */
  readonly resolution?: number;
  /** Whether edges of corners and turned boxes are smooth; true by default. A slow graphics card draws faster without. */
  readonly antialias?: boolean;
}

/** Frames of a surface, for measuring. */
export interface FrameCounts {
  readonly frames: number;
  /** Time in which something moved, milliseconds, and frames in it. */
  readonly moving_ms: number;
  readonly moving_frames: number;
  /** Time by which frames took longer than 50 ms while something moved, added up. */
  readonly long_ms: number;
}

const LONG_MS = 50;
/** Milliseconds for idle work where the browser does not tell them. */
const IDLE_MS = 8;

/** Surface with a canvas of its own. Resolves when the canvas can be drawn on. */
export async function browserSurface(options: BrowserOptions = {}): Promise<BrowserSurface> {
  const { parent = document.body, background = 0, resolution = devicePixelRatio, antialias = true } = options;
  const renderer = new WebGLRenderer();
  const [width, height] = sizeOf(parent, options);
  await renderer.init({
    width,
    height,
    background,
    resolution,
    autoDensity: true,
    antialias,
    eventMode: 'none',
  });
  renderer.canvas.style.display = 'block';
  parent.append(renderer.canvas);
  return new BrowserSurface(renderer, parent, options);
}

export class BrowserSurface implements Surface {
  readonly #scene: Scene;
  readonly #renderer: WebGLRenderer;
  readonly #stage = new Container();
  readonly #images = new Images();
  readonly #drawing: Drawing;
  readonly #ends: (() => void)[] = [];
  #request = 0;
  #counts = { frames: 0, moving_ms: 0, moving_frames: 0, long_ms: 0 };
  /** Time of the last frame, as long as something moves since. */
  #moved_ms = Number.NaN;

  constructor(renderer: WebGLRenderer, parent: HTMLElement, options: BrowserOptions) {
    const letters = canvasWidth();
    this.#renderer = renderer;
    this.#scene = new Scene(...sizeOf(parent, options), letters.widthOf);
    this.#drawing = {
      images: this.#images,
      widthOf: letters.widthOf,
      resolution: renderer.resolution,
      repaint: this.#repaint.bind(this),
      image: this.#image.bind(this),
    };
    this.#ends.push(
      listenToKeys((phase, key) => {
        this.#scene.key(phase, this.now(), key);
        this.#scene.send();
      }),
    );
    if (options.width === undefined || options.height === undefined) this.#follow(parent, options);
    const remeasure = (): void => {
      letters.forget();
      this.#scene.tree.remeasure();
      this.#schedule();
    };
    document.fonts.addEventListener('loadingdone', remeasure);
    this.#ends.push(() => document.fonts.removeEventListener('loadingdone', remeasure));
  }

  get width(): number {
    return this.#scene.width;
  }

  get height(): number {
    return this.#scene.height;
  }

  get canvas(): HTMLCanvasElement {
    return this.#renderer.canvas;
  }

  /** Widgets alive. */
  get widgets(): number {
    return this.#scene.tree.boxes.size;
  }

  /** Whether a frame is asked for: nothing is to do until the next batch if not. */
  get isBusy(): boolean {
    return this.#request !== 0;
  }

  now(): number {
    return performance.now();
  }

  commit(words: Int32Array, length: number, strings: readonly string[], cause: number): void {
    this.#scene.commit({ words, length, strings, cause }, this.now());
    this.#schedule();
  }

  listen(listener: EventListener): void {
    this.#scene.listen(listener);
  }

  requestIdle(run: (deadline: () => number) => void): void {
    if (typeof requestIdleCallback === 'function') {
      requestIdleCallback((deadline) => run(() => deadline.timeRemaining()));
      return;
    }
    setTimeout(() => {
      const end_ms = this.now() + IDLE_MS;
      run(() => Math.max(end_ms - this.now(), 0));
    });
  }

  frameCounts(): FrameCounts {
    return { ...this.#counts };
  }

  /** Place of a widget after layout; undefined if there is no such widget. */
  rect(id: number): { x: number; y: number; width: number; height: number } | undefined {
    this.#scene.layOut();
    const box = this.#scene.tree.boxes.get(id);
    return box && { x: box.x, y: box.y, width: box.width, height: box.height };
  }

  /** Drops pictures that no widget shows, and says to the app that memory is low (1) or almost gone (2). */
  memory(level: 0 | 1 | 2): void {
    if (level > 0) this.#images.trim(0);
    this.#scene.events.memory(level);
    this.#scene.send();
  }

  /** Removes the canvas, and stops listening. */
  destroy(): void {
    cancelAnimationFrame(this.#request);
    for (const end of this.#ends) end();
    for (const box of [this.#scene.tree.root, ...this.#scene.tree.boxes.values()])
      if (box.drawing instanceof View) box.drawing.destroy();
    this.#images.trim(0);
    this.#renderer.destroy({ removeView: true });
  }

  #schedule(): void {
    if (this.#request === 0) this.#request = requestAnimationFrame(() => this.#frame());
  }

  #frame(): void {
    this.#request = 0;
    const scene = this.#scene;
    const start_ms = this.now();
    const isMoving = scene.isMoving;
    scene.advance(start_ms);
    this.#draw();
    const duration_ms = this.now() - start_ms;
    this.#count(start_ms, isMoving);
    scene.drawn(start_ms + duration_ms, duration_ms);
    scene.send();
    if (scene.isMoving || scene.isStale) this.#schedule();
  }

  #draw(): void {
    const { painted, reordered, removed } = this.#scene.tree.changes;
    for (const box of removed)
      if (box.drawing instanceof View) {
        box.drawing.destroy();
        box.drawing = undefined;
      }
    for (const box of reordered) this.#viewOf(box).order((child) => this.#viewOf(child));
    for (const box of painted) this.#viewOf(box).update();
    // What clips or fades depends on whether there are children.
    for (const box of reordered) if (!painted.has(box)) this.#viewOf(box).update();
    this.#renderer.render(this.#stage);
  }

  #viewOf(box: Box): View {
    if (box.drawing instanceof View) return box.drawing;
    const view = new View(box, this.#drawing);
    box.drawing = view;
    if (box === this.#scene.tree.root) this.#stage.addChild(view.outer);
    return view;
  }

  #count(time_ms: number, isMoving: boolean): void {
    this.#counts.frames += 1;
    if (isMoving && !Number.isNaN(this.#moved_ms)) {
      const passed_ms = time_ms - this.#moved_ms;
      this.#counts.moving_ms += passed_ms;
      this.#counts.moving_frames += 1;
      this.#counts.long_ms += Math.max(passed_ms - LONG_MS, 0);
    }
    this.#moved_ms = isMoving ? time_ms : Number.NaN;
  }

  #repaint(box: Box): void {
    if (this.#scene.tree.boxes.get(box.id) !== box) return;
    this.#scene.tree.changes.painted.add(box);
    this.#schedule();
  }

  #image(box: Box, state: 1 | 2): void {
    if (this.#scene.tree.boxes.get(box.id) === box) this.#scene.events.image(box.id, state);
  }

  #follow(parent: HTMLElement, options: BrowserOptions): void {
    const observer = new ResizeObserver(() => {
      const [width, height] = sizeOf(parent, options);
      if (width === this.width && height === this.height) return;
      this.#renderer.resize(width, height);
      this.#scene.resize(width, height);
      this.#scene.send();
      this.#schedule();
    });
    observer.observe(parent);
    this.#ends.push(() => observer.disconnect());
  }
}

function sizeOf(parent: HTMLElement, { width, height }: BrowserOptions): [width: number, height: number] {
  const isBody = parent === document.body;
  return [
    width ?? (isBody ? innerWidth : parent.clientWidth),
    height ?? (isBody ? innerHeight : parent.clientHeight),
  ];
}
