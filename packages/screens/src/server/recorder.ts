// Surface of a render on the server: it keeps a picture, and shows nothing. Its clock stands still, and idle work never runs.
import { Picture } from '../adopt/picture.js';
import { COMMAND } from '../stream/codes.js';
import { COMMAND_OF } from '../stream/facts.js';
import type { EventListener, Surface } from '../surfaces/surface.js';
import type { Size } from './json.js';
import { ScreenLimitError } from './limits.js';

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

  /** @throws {ScreenLimitError} if the batch creates more widgets than a screen may have; then none is kept or laid out. */
  commit(words: Int32Array, length: number, strings: readonly string[], cause: number): void {
    this.#check(words, length);
    this.picture.apply(words, length, strings);
    this.#layout?.commit(words, length, strings, cause);
  }

  /** Whether the tree has more widgets than a screen may have. */
  get isTooLarge(): boolean {
    return this.picture.parts.size > this.#widgetsMax;
  }

  /** Counts the widgets that a batch creates. Those that it removes do not matter: none is created and removed in one batch. */
  #check(words: Int32Array, length: number): void {
    let count = 0;
    for (let at = 0; at < length;) {
      const code = (words[at] ?? 0) & 0xff;
      if (code === COMMAND.CREATE) count += 1;
      const further = code === COMMAND.DEFINE ? (words[at + 2] ?? 0) : 0;
      at += 1 + (COMMAND_OF[code]?.words.length ?? 0) + further;
    }
    if (count > this.#widgetsMax)
      throw new ScreenLimitError(`The screen has more than ${this.#widgetsMax} widgets`);
  }

  listen(listener: EventListener): void {
    this.#layout?.listen(listener);
  }

  requestIdle(): void {}
}
