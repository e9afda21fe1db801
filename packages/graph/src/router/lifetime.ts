/** Time from the start of a request to its end: what waits for it, its time limit, and its failure. It must not know paths. */

/** Reader of parts, of which a request knows when it takes some. */
export interface PartReader {
  /** Undefined for a reader that keeps up. */
  readonly behind: Promise<void> | undefined;
  /** Promise that resolves when the reader takes its next part, or leaves. */
  readonly taken: Promise<void>;
}

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Receiver of the end of a request's time. */
export interface Expiring {
  /** Called where values have taken too long. */
  expire(): void;
  /** Called where the reader has taken no part for too long. */
  stall(): void;
}

export class Lifetime {
  readonly #timeoutMs: number;
  readonly #expiring: Expiring;
  #isClosed = false;
  #failure: { readonly error: unknown } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waiting: Waiting | undefined;
  #isReaderBehind = false;

  /** `timeoutMs`: time from the first wait, or from when a reader was last behind, after which `expiring` is called. */
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

  /** Stops the time of the request while its reader is behind. The reader gets as much time for each part that it takes. */
  waitForReader(reader: PartReader): void {
    if (this.#isReaderBehind || this.#isClosed) return;
    this.#isReaderBehind = true;
    this.#restartTimer();
    void reader.taken.then(() => {
      this.#isReaderBehind = false;
      if (this.#isClosed) return;
      // Parts may have come since it took one.
      if (reader.behind === undefined) this.#restartTimer();
      else this.waitForReader(reader);
    });
  }

  #restartTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#startTimer();
  }

  #throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #startTimer(): void {
    this.#timer ??= setTimeout(() => {
      if (this.#isClosed) return;
      if (this.#isReaderBehind) this.#expiring.stall();
      else this.#expiring.expire();
    }, this.#timeoutMs);
  }
}
