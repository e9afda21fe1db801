// Events of a surface, in the stream's encoding: writer for surfaces, reader for roots.
import { floatsOf } from './batch.js';
import { EVENT } from './codes.js';
import { StreamError } from './errors.js';
import { EVENT_LENGTH } from './facts.js';

/** Phases of a key. */
export const PHASE = { PRESSED: 0, REPEATED: 1, RELEASED: 2 } as const;

/** Receiver of events, with one method for each. */
export interface EventSink {
  key(phase: number, sequence: number, time: number, key: string): void;
  layout(id: number, x: number, y: number, width: number, height: number): void;
  animationEnd(id: number, property: number): void;
  image(id: number, state: number): void;
  memory(level: number): void;
  resize(width: number, height: number): void;
  frame(cause: number, time: number, duration: number): void;
}

/** Events that a surface collects until it hands them to its listener. */
export class EventWriter implements EventSink {
  words = new Int32Array(64);
  length = 0;
  strings: string[] = [];
  #floats = floatsOf(this.words);

  key(phase: number, sequence: number, time: number, key: string): void {
    const at = this.#start(EVENT.KEY);
    this.words[at + 1] = phase;
    this.words[at + 2] = sequence;
    this.#floats[at + 3] = time;
    this.words[at + 4] = this.strings.push(key) - 1;
  }

  layout(id: number, x: number, y: number, width: number, height: number): void {
    const at = this.#start(EVENT.LAYOUT);
    this.words[at + 1] = id;
    this.#floats[at + 2] = x;
    this.#floats[at + 3] = y;
    this.#floats[at + 4] = width;
    this.#floats[at + 5] = height;
  }

  animationEnd(id: number, property: number): void {
    this.#pair(EVENT.ANIMATION_END, id, property);
  }

  image(id: number, state: number): void {
    this.#pair(EVENT.IMAGE, id, state);
  }

  memory(level: number): void {
    this.words[this.#start(EVENT.MEMORY) + 1] = level;
  }

  resize(width: number, height: number): void {
    const at = this.#start(EVENT.RESIZE);
    this.#floats[at + 1] = width;
    this.#floats[at + 2] = height;
  }

  frame(cause: number, time: number, duration: number): void {
    const at = this.#start(EVENT.FRAME);
    this.words[at + 1] = cause;
    this.#floats[at + 2] = time;
    this.#floats[at + 3] = duration;
  }

  clear(): void {
    this.length = 0;
    this.strings = [];
  }

  /** Drops events about widgets that `isGone`. */
  forget(isGone: (id: number) => boolean): void {
    let to = 0;
    for (let at = 0; at < this.length;) {
      const code = this.words[at] as number;
      const next = at + (EVENT_LENGTH[code] as number);
      const isAbout = code === EVENT.LAYOUT || code === EVENT.ANIMATION_END || code === EVENT.IMAGE;
      if (!isAbout || !isGone(this.words[at + 1] as number)) {
        this.words.copyWithin(to, at, next);
        to += next - at;
      }
      at = next;
    }
    this.length = to;
  }

  #pair(code: number, id: number, value: number): void {
    const at = this.#start(code);
    this.words[at + 1] = id;
    this.words[at + 2] = value;
  }

  /** Place of a new event. */
  #start(code: number): number {
    const at = this.length;
    this.length += EVENT_LENGTH[code] as number;
    if (this.length > this.words.length) {
      const grown = new Int32Array(2 * this.words.length);
      grown.set(this.words);
      this.words = grown;
      this.#floats = floatsOf(grown);
    }
    this.words[at] = code;
    return at;
  }
}

/**
 * Reads events, checked whole before the sink has the first one.
 *
 * @throws {StreamError} whose `at` is the word.
 */
export function readEvents(
  words: Int32Array,
  length: number,
  strings: readonly string[],
  sink: EventSink,
): void {
  checkEvents(words, length, strings.length);
  const floats = floatsOf(words);
  const word = (at: number): number => words[at] as number;
  const float = (at: number): number => floats[at] as number;
  for (let at = 0; at < length; at += EVENT_LENGTH[word(at)] as number) {
    switch (word(at)) {
      case EVENT.KEY:
        sink.key(word(at + 1), word(at + 2), float(at + 3), strings[word(at + 4)] as string);
        break;
      case EVENT.LAYOUT:
        sink.layout(word(at + 1), float(at + 2), float(at + 3), float(at + 4), float(at + 5));
        break;
      case EVENT.ANIMATION_END:
        sink.animationEnd(word(at + 1), word(at + 2));
        break;
      case EVENT.IMAGE:
        sink.image(word(at + 1), word(at + 2));
        break;
      case EVENT.MEMORY:
        sink.memory(word(at + 1));
        break;
      case EVENT.RESIZE:
        sink.resize(float(at + 1), float(at + 2));
        break;
      default:
        sink.frame(word(at + 1), float(at + 2), float(at + 3));
    }
  }
}

function checkEvents(words: Int32Array, length: number, strings: number): void {
  for (let at = 0; at < length;) {
    const code = words[at] ?? 0;
    const size = EVENT_LENGTH[code];
    if (size === undefined || code === 0) throw new StreamError(`word ${at}: event ${code} is unknown`, at);
    if (at + size > Math.min(length, words.length))
      throw new StreamError(`word ${at}: a word is missing`, at);
    const index = words[at + 4] ?? 0;
    if (code === EVENT.KEY && (index < 0 || index >= strings))
      throw new StreamError(`word ${at}: there is no string ${index}`, at);
    at += size;
  }
}
