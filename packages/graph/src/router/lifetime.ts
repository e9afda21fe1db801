/** Time from the start of a request to its end: what waits for it, its time limit, and its failure. It must not know paths. */

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Receiver of the end of a request's time. */
export interface Expiring {
  expire(): void;
}

export class Lifetime {
  readonly #timeoutMs: number;
  readonly #expiring: Expiring;
  #isClosed = false;
  #failure: { readonly error: unknown } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waiting: Waiting | undefined;

  /** `timeoutMs`: time from the first wait, after which `expiring` is called, unless the request has ended. */
  constructor(timeoutMs: number, expiring: Expiring) {
    this.#timeoutMs = timeoutMs;
    this.#expiring = expiring;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Runs work, and resolves when `finish` is called. Rejects with what `fail` is given. */
  async untilFinished(work: () => void): Promise<void> {
    this.#throwIfFailed();
    await new Promise<void>((resolve, reject) => {
      this.#waiting = { resolve, reject };
      work();
      if (this.#waiting !== undefined) this.#startTimer();
    });
  }

  /** Waits for a result within the time of the request. */
  async during<T>(result: Promise<T>): Promise<T> {
    // Nobody waits for it where the request has failed.
    result.catch(() => undefined);
    this.#throwIfFailed();
    return new Promise<T>((resolve, reject) => {
      this.#waiting = { resolve: () => undefined, reject };
      this.#startTimer();
      result.then(resolve, reject);
    });
  }

  finish(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve();
  }

  /** Closes the request, and rejects what waits for it now or later. */
  fail(error: unknown): void {
    this.#failure = { error };
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.close();
    waiting?.reject(error);
  }

  /** Ends the request's time. Results that come later are dropped. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #startTimer(): void {
    this.#timer ??= setTimeout(() => {
      if (!this.#isClosed) this.#expiring.expire();
    }, this.#timeoutMs);
  }
}
