/**
 * The signals of one page. They are linked by listeners, which end with the page: `AbortSignal.any` does it by weak references,
 * for which the garbage collector pays on every page. It must not know what is aborted.
 */
import { setMaxListeners } from 'node:events';

export class PageSignals {
  readonly #leaving = new AbortController();
  readonly #working = new AbortController();
  readonly #outer: AbortSignal | undefined;

  /** Creates the signals. `outer` is aborted when the client that asked for the page is gone. */
  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    // Each source listens, and a page may have many: Node would warn of a leak.
    setMaxListeners(0, this.#working.signal);
    if (outer?.aborted === true) this.#leaveOuter();
    else outer?.addEventListener('abort', this.#leaveOuter, { once: true });
  }

  /** Aborted when nobody waits any more, from inside or outside. */
  get leaving(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Signal that is aborted when nobody waits for parts that are not there yet: the page may continue without them. */
  get working(): AbortSignal {
    return this.#working.signal;
  }

  leave(reason?: unknown): void {
    this.#leaving.abort(reason);
    this.#working.abort(reason);
  }

  beLate(): void {
    this.#working.abort();
  }

  /** The page is at its end: the outer signal may live on. */
  release(): void {
    this.#outer?.removeEventListener('abort', this.#leaveOuter);
  }

  readonly #leaveOuter = (): void => this.leave(this.#outer?.reason);
}
