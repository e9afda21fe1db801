import { PHASE } from '../stream/events.js';

/** Names that remote controls and keyboards give to the key that leads back. */
const BACK = new Set(['Back', 'BrowserBack', 'GoBack', 'Escape', 'Backspace', 'XF86Back']);

/** Event of a key, as `onKey` and `onKeyUp` get it. It goes to the widget with the focus, then to each one above it, until one has used it. */
export class KeyEvent {
  /** Name as in the DOM's `KeyboardEvent.key`. */
  readonly key: string;
  /** 0 pressed, 1 repeated by the device, 2 released. */
  readonly phase: number;
  /** Number of the key, which grows by one. */
  readonly sequence: number;
  /** Milliseconds of the surface's clock. */
  readonly time: number;
  #isUsed = false;

  constructor(key: string, phase: number, sequence: number, time: number) {
    this.key = key;
    this.phase = phase;
    this.sequence = sequence;
    this.time = time;
  }

  get repeat(): boolean {
    return this.phase === PHASE.REPEATED;
  }

  /** Whether the key leads back, whatever the device calls it. */
  get isBack(): boolean {
    return BACK.has(this.key);
  }

  /** Says that the key has been used: no widget above gets it, and the focus does not move. */
  preventDefault(): void {
    this.#isUsed = true;
  }

  get defaultPrevented(): boolean {
    return this.#isUsed;
  }
}
