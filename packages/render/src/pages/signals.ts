/** The aborts of one page, and how they follow from each other. It must not know what is aborted. */
import { Abort, type Abortable } from '../abort.js';

export class PageSignals {
  /** Aborted when nobody waits any more, from inside or outside. */
  readonly leaving = new Abort();
  /** Aborted when nobody waits for parts that are not there yet: the page may continue without them. */
  readonly working = new Abort();
  readonly #outer: Abortable | undefined;

  /** Creates the signals. `outer` is aborted when the client that asked for the page is gone. */
  constructor(outer: Abortable | undefined) {
    this.#outer = outer;
    if (outer?.aborted === true) this.#leaveOuter();
    else outer?.addEventListener('abort', this.#leaveOuter);
  }

  leave(reason?: unknown): void {
    this.leaving.abort(reason);
    this.working.abort(reason);
  }

  beLate(): void {
    this.working.abort();
  }

  /** The page is at its end: the outer signal may live on. */
  release(): void {
    this.#outer?.removeEventListener('abort', this.#leaveOuter);
  }

  readonly #leaveOuter = (): void => this.leave(this.#outer?.reason);
}
