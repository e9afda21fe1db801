/**
 * The page as a stream: writes wait while the client's side is full, and a client who leaves ends everything. It must not know
 * what is written.
 */
import { Readable } from 'node:stream';

/** Texts are put together up to so many characters, as each chunk costs a write. */
const CHUNK_CHARACTERS = 16_384;
/** Milliseconds for which a text waits for more: components that follow each other at once share a write. */
const SOON_MS = 5;

export class PageBody extends Readable {
  readonly #onLeave: () => void;
  #text = '';
  #resume: (() => void) | undefined;
  #isWritten = false;
  #hasSent = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(onLeave: () => void) {
    super({ highWaterMark: 4 * CHUNK_CHARACTERS });
    this.#onLeave = onLeave;
  }

  /** Undefined where more can be written at once. */
  write(text: string): Promise<void> | undefined {
    this.#text += text;
    return this.#text.length < CHUNK_CHARACTERS ? undefined : this.#send();
  }

  /** Something is waited for: the first text goes at once, because the browser begins with it, and others go soon. */
  flush(): Promise<void> | undefined {
    if (!this.#hasSent) return this.#send();
    this.#timer ??= setTimeout(() => void this.#send(), SOON_MS);
    return undefined;
  }

  #send(): Promise<void> | undefined {
    this.#clearTimer();
    if (this.#text === '' || this.destroyed) return undefined;
    const text = this.#text;
    this.#text = '';
    this.#hasSent = true;
    if (this.push(text, 'utf8')) return undefined;
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  end(): void {
    this.#isWritten = true;
    this.#clearTimer();
    if (this.destroyed) return;
    if (this.#text !== '') this.push(this.#text, 'utf8');
    this.#text = '';
    this.push(null);
  }

  override _read(): void {
    this.#resume?.();
    this.#resume = undefined;
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#clearTimer();
    // The writer must not wait for somebody who has left.
    this._read();
    if (!this.#isWritten) this.#onLeave();
    callback(error);
  }
}
