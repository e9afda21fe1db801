// Time of keys: what is a long press, and which repeats come too soon.
import { PHASE } from '../stream/events.js';
import type { KeyEvent } from './key.js';

/** Runs something later, in milliseconds, and returns how to cancel that. */
export type Later = (run: () => void, ms: number) => () => void;

const LONG_MS = 500;
/** A surface that says nothing of a frame for so long will not do it any more. */
const FRAME_MS = 250;
/** Key that can be pressed long. */
export const ENTER = 'Enter';

export const later: Later = (run, ms) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

/** Drops repeats of a key that come before the last one has been drawn: a device repeats faster than it draws. */
export class RepeatLimit {
  /** The last key. */
  #sequence = 0;
  #time_ms = 0;
  /** Key whose batch is not on the screen yet; 0 for none. */
  #awaited = 0;
  #tellsFrames = false;

  note({ sequence, time }: KeyEvent): void {
    this.#sequence = sequence;
    this.#time_ms = time;
  }

  /** Notes that the last key has led to a batch. */
  sent(): void {
    this.#awaited = this.#sequence;
  }

  /** Notes that the batch of this key, and those before, are on the screen. */
  drawn(cause: number): void {
    this.#tellsFrames = true;
    if (cause >= this.#awaited) this.#awaited = 0;
  }

  /** Whether a repeat comes too soon. */
  isTooSoon({ time }: KeyEvent): boolean {
    if (this.#awaited === 0 || !this.#tellsFrames) return false;
    return time - this.#time_ms < FRAME_MS;
  }
}

/** Receiver of a press once it is known to be long or short. */
interface Outcome {
  /** Whether someone waits for a long press. */
  readonly awaitsLong: boolean;
  long(event: KeyEvent): void;
  short(event: KeyEvent): void;
}

/** Holds Enter back where someone waits for a long press: it is a press when it is released in time. */
export class LongPress {
  readonly #later: Later;
  #held: { readonly event: KeyEvent; readonly outcome: Outcome; readonly cancel: () => void } | undefined;
  #isLong = false;

  constructor(later: Later) {
    this.#later = later;
  }

  /** Whether the event of Enter is over: held back, or a part of a press that is held or was long. */
  takes(event: KeyEvent, outcome: Outcome): boolean {
    if (event.phase === PHASE.RELEASED) return this.#release();
    if (event.phase === PHASE.REPEATED) {
      if (this.#held === undefined) return this.#isLong;
      if (event.time - this.#held.event.time >= LONG_MS) this.#fire();
      return true;
    }
    this.cancel();
    if (!outcome.awaitsLong) return false;
    this.#held = { event, outcome, cancel: this.#later(() => this.#fire(), LONG_MS) };
    return true;
  }

  /** Forgets a press that is held: its widget has lost the focus. */
  cancel(): void {
    this.#held?.cancel();
    this.#held = undefined;
    this.#isLong = false;
  }

  #fire(): void {
    const held = this.#held;
    this.cancel();
    this.#isLong = true;
    held?.outcome.long(held.event);
  }

  /** A long press takes its release with it; after a short one `onKeyUp` is called as well. */
  #release(): boolean {
    const held = this.#held;
    const wasLong = this.#isLong;
    this.cancel();
    held?.outcome.short(held.event);
    return wasLong;
  }
}
