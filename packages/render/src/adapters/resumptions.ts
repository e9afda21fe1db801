/**
 * Resumptions of one render, for frameworks that resume in microtasks. A component whose promises are settled already would
 * let no timer fire and no socket be read, and no limit could end it. It must not know frameworks.
 */

/** Bounds the resumptions of a render in one turn of the event loop. */
const RESUMPTIONS_PER_TURN_MAX = 16;

export class Resumptions {
  readonly #signal: AbortSignal;
  #count = 0;
  #isWithin = false;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** The render has resumed at least once. */
  get hasBegun(): boolean {
    return this.#count > 0;
  }

  /**
   * Called before each component of a render that has resumed. A promise where the component has to wait for it first: until
   * the event loop has turned, or for ever where nobody waits for the render any more.
   */
  next(): Promise<void> | undefined {
    // All components until the next promise are of one resumption.
    if (this.#isWithin) return undefined;
    this.#isWithin = true;
    queueMicrotask(() => (this.#isWithin = false));
    this.#count += 1;
    if (this.#signal.aborted) return new Promise(() => {});
    if (this.#count % RESUMPTIONS_PER_TURN_MAX > 0) return undefined;
    return new Promise((resolve) => setImmediate(resolve));
  }
}
