// Surface of a render on the server: it keeps a picture, and shows nothing. Its clock stands still, and idle work never runs.
import { Picture } from '../adopt/picture.js';
import type { EventListener, Surface } from '../surfaces/surface.js';
import type { Size } from './json.js';

export class Recorder implements Surface {
  readonly picture = new Picture();
  readonly width: number;
  readonly height: number;
  /** Surface that lays out the same tree, for the focus among places; null where nobody asks for places. */
  readonly #layout: Surface | null;
  readonly #widgetsMax: number;

  /** @param layout A surface of the same size, which also hears the listener's root. */
  constructor({ width, height }: Size, widgetsMax: number, layout: Surface | null = null) {
    this.width = width;
    this.height = height;
    this.#widgetsMax = widgetsMax;
    this.#layout = layout;
  }

  now(): number {
    return 0;
  }

  commit(words: Int32Array, length: number, strings: readonly string[], cause: number): void {
    this.picture.apply(words, length, strings);
    this.#layout?.commit(words, length, strings, cause);
  }

  /** Whether the tree has more widgets than a screen may have. */
  get isTooLarge(): boolean {
    return this.picture.parts.size > this.#widgetsMax;
  }

  listen(listener: EventListener): void {
    this.#layout?.listen(listener);
  }

  requestIdle(): void {}
}
