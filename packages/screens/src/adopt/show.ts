// The server's screen on a device, from before the app's bundle is parsed until the app's root takes its widgets over.
import { EVENT } from '../stream/codes.js';
import type { EventListener, Surface } from '../surfaces/surface.js';
import { type Difference, difference } from './difference.js';
import { pictureOf, type ScreenJson } from './json.js';
import { Picture } from './picture.js';

/** Keys that are remembered for the app. */
const KEYS_MAX = 16;
/** Words of each event, by its code. */
const LENGTHS: Readonly<Record<number, number>> = {
  [EVENT.KEY]: 5,
  [EVENT.LAYOUT]: 6,
  [EVENT.ANIMATION_END]: 3,
  [EVENT.IMAGE]: 3,
  [EVENT.MEMORY]: 2,
  [EVENT.RESIZE]: 3,
  [EVENT.FRAME]: 4,
};

/** Draws a server's screen at once. Throws a `TypeError` for JSON that is no screen or of another version of the stream. */
export function showScreen(surface: Surface, json: ScreenJson): Shown {
  return new Shown(surface, json);
}

/**
 * A screen that a surface shows without an app. It remembers what the surface tells meanwhile: the latest place, image and size of each widget, and
 * keys. An app's root gets all of it when it takes the widgets over: `createRoot(surface, { adopt: shown })`.
 */
export class Shown {
  readonly #surface: Surface;
  /** Picture that the surface shows, with its numbers. */
  readonly #picture = new Picture();
  readonly #keys: Event[] = [];
  readonly #latest = new Map<string, Event>();
  /** Called after keys have come. */
  onKeys: (() => void) | null = null;

  constructor(surface: Surface, json: ScreenJson) {
    this.#surface = surface;
    surface.listen((words, length, strings) => this.#note(words, length, strings));
    this.show(json);
  }

  /** Shows another screen in place of this one. Widgets whose place and kind agree stay. */
  show(json: ScreenJson, cause = 0): void {
    const { words, length, strings } = this.#change(pictureOf(json));
    if (length > 0) this.#surface.commit(words, length, strings, cause);
  }

  /**
   * Takes the first batch of an app's root. What differs from what the surface shows is the batch for it, which is empty if nothing does. The numbers
   * of the result are those by which the root has to call its widgets and styles from then on.
   */
  take(words: Int32Array, length: number, strings: readonly string[]): Difference {
    const wanted = new Picture();
    wanted.apply(words, length, strings);
    return this.#change(wanted);
  }

  /** Gives the events of the surface to a listener, and tells it what has happened meanwhile. */
  release(surface: Surface, listener: EventListener): void {
    surface.listen(listener);
    for (const { words, strings } of [...this.#latest.values(), ...this.#keys.splice(0)])
      listener(words, words.length, strings);
    this.#latest.clear();
  }

  /** Keys that the surface has told of since the last call. */
  takeKeys(): readonly { readonly phase: number; readonly sequence: number; readonly key: string }[] {
    return this.#keys.splice(0).map(({ words, strings }) => ({
      phase: words[1] ?? 0,
      sequence: words[2] ?? 0,
      key: strings[0] ?? '',
    }));
  }

  #change(wanted: Picture): Difference {
    const made = difference(this.#picture, wanted);
    this.#picture.apply(made.words, made.length, made.strings);
    return made;
  }

  #note(words: Int32Array, length: number, strings: readonly string[]): void {
    let hasKeys = false;
    for (let at = 0; at < length;) {
      const code = words[at] ?? 0;
      const size = LENGTHS[code];
      if (size === undefined) break;
      const event: Event = { words: words.slice(at, at + size), strings: [] };
      if (code === EVENT.KEY) {
        event.strings.push(strings[words[at + 4] ?? 0] ?? '');
        event.words[4] = 0;
        if (this.#keys.length < KEYS_MAX) this.#keys.push(event);
        hasKeys = true;
      } else if (code === EVENT.LAYOUT || code === EVENT.IMAGE) {
        this.#latest.set(`${code} ${words[at + 1]}`, event);
      } else if (code === EVENT.MEMORY || code === EVENT.RESIZE) {
        this.#latest.set(String(code), event);
      }
      at += size;
    }
    if (hasKeys) this.onKeys?.();
  }
}

interface Event {
  readonly words: Int32Array;
  readonly strings: string[];
}
