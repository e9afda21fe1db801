// The server's screen on a device, from before the app's bundle is parsed until the app's root takes its widgets over.
import { EVENT } from '../stream/codes.js';
import { PHASE } from '../stream/events.js';
import type { EventListener, Surface } from '../surfaces/surface.js';
import { type Difference, difference } from './difference.js';
import { pictureOf, type ScreenJson } from './json.js';
import { Picture } from './picture.js';

/** Presses, repeats included, that are remembered for the app; the releases of those that are remembered come on top. */
const PRESSES_MAX = 16;
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
  #presses = 0;
  /** Keys whose press was remembered, and whose release has not come yet. */
  readonly #held = new Set<string>();
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
    for (const { words, strings } of [...this.#latest.values(), ...this.#splice()])
      listener(words, words.length, strings);
    this.#latest.clear();
  }

  /** Keys that the surface has told of since the last call. */
  takeKeys(): readonly { readonly phase: number; readonly sequence: number; readonly key: string }[] {
    return this.#splice().map(({ words, strings }) => ({
      phase: words[1] ?? 0,
      sequence: words[2] ?? 0,
      key: strings[0] ?? '',
    }));
  }

  #splice(): Event[] {
    this.#presses = 0;
    return this.#keys.splice(0);
  }

  /** Whether a key is remembered. A release is if its press was: an app would take a press without one for a long press. */
  #remembers(phase: number, key: string): boolean {
    if (phase === PHASE.RELEASED) return this.#held.delete(key);
    if (this.#presses >= PRESSES_MAX) return false;
    this.#presses += 1;
    this.#held.add(key);
    return true;
  }

  #change(wanted: Picture): Difference {
    const made = difference(this.#picture, wanted);
    const { parts } = this.#picture;
    this.#picture.apply(made.words, made.length, made.strings);
    for (const [key, { words }] of this.#latest)
      if (isOfWidget(words) && !parts.has(words[1] ?? 0)) this.#latest.delete(key);
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
        const key = strings[words[at + 4] ?? 0] ?? '';
        event.strings.push(key);
        event.words[4] = 0;
        if (this.#remembers(words[at + 1] ?? 0, key)) this.#keys.push(event);
        hasKeys = true;
      } else if (isOfWidget(event.words)) {
        if (this.#picture.parts.has(words[at + 1] ?? 0)) this.#latest.set(`${code} ${words[at + 1]}`, event);
      } else if (code === EVENT.MEMORY || code === EVENT.RESIZE) {
        this.#latest.set(String(code), event);
      }
      at += size;
    }
    if (hasKeys) this.onKeys?.();
  }
}

const isOfWidget = (words: Int32Array): boolean => words[0] === EVENT.LAYOUT || words[0] === EVENT.IMAGE;

interface Event {
  readonly words: Int32Array;
  readonly strings: string[];
}
