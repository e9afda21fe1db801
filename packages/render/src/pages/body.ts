/**
 * The page as a stream: writes wait while the client's side is full, and a client who leaves ends everything. It must not know
 * what is written.
 */
import { Readable } from 'node:stream';
import { now_ms } from '#host/cpu-clock.js';
import type { Html } from '../tasks/placed-html.js';
import { PageBytes } from './bytes.js';

/** Texts are put together up to so many bytes, as each chunk costs a write. */
const CHUNK_BYTES = 163_840;
/** Bytes that lie ready for a reader before the writer waits. */
const READY_BYTES = 65_536;
/**
 * Milliseconds that the first text waits while boxes are rendered, of this page or of others. A page that is whole by then is one write, and
 * costs less than one in parts.
 */
const FIRST_MS = 24;
/** Milliseconds of real time after which the first text goes at the end of a turn, whatever turns count for. */
const FIRST_REAL_MS = 50;
/** Milliseconds of a turn of the event loop in which nothing is rendered. */
const IDLE_TURN_MS = 0.5;
/**
 * Milliseconds that a turn counts for at most, as it may have waited for a core. An idle turn counts for as many: four of those in a row are no
 * time, and then all boxes wait for something.
 */
const TURN_MS = 6;
/** Milliseconds for which a text waits for more: components that follow each other at once share a write. */
const SOON_MS = 5;

export class PageBody extends Readable {
  readonly #onLeave: () => void;
  readonly #bytes = new PageBytes();
  #resume: (() => void) | undefined;
  #isWritten = false;
  #hasSent = false;
  #turn: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #tellWhole: ((bytes: Buffer | undefined) => void) | undefined;

  constructor(onLeave: () => void) {
    super({ highWaterMark: READY_BYTES });
    this.#onLeave = onLeave;
  }

  write(html: Html): void {
    if (typeof html === 'string') this.#bytes.add(html);
    else this.#bytes.addPlaced(html);
  }

  /** Undefined where more can be written at once. */
  drained(): Promise<void> | undefined {
    return this.#bytes.length < CHUNK_BYTES ? undefined : this.#send();
  }

  /**
   * Flushes, because something is waited for: the first text goes after some turns, because the browser begins with it, and
   * others go soon.
   */
  flush(): void {
    if (this.#hasSent) this.#timer ??= setTimeout(this.#sendNow, SOON_MS);
    else if (this.#turn === undefined) {
      const at_ms = now_ms();
      this.#turn = setImmediate(this.#awaitTurns, FIRST_MS, at_ms, at_ms + FIRST_REAL_MS);
    }
  }

  /**
   * All of the page where it is there before any of it has to go, which is then the caller's to send; undefined where the body is
   * to be read. To be called before anybody reads.
   */
  whole(): Promise<Buffer | undefined> {
    if (this.#hasSent || this.#isWritten || this.destroyed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#tellWhole = resolve;
    });
  }

  readonly #awaitTurns = (before_ms: number, since_ms: number, end_ms: number): void => {
    const at_ms = now_ms();
    const turn_ms = at_ms - since_ms;
    const left_ms = before_ms - (turn_ms < IDLE_TURN_MS ? TURN_MS : Math.min(turn_ms, TURN_MS));
    if (left_ms <= 0 || at_ms >= end_ms) void this.#send();
    else this.#turn = setImmediate(this.#awaitTurns, left_ms, at_ms, end_ms);
  };

  readonly #sendNow = (): void => void this.#send();

  #send(): Promise<void> | undefined {
    this.#clearTimers();
    this.#beRead();
    if (this.#bytes.length === 0 || this.destroyed) return undefined;
    this.#hasSent = true;
    if (this.push(this.#bytes.take())) return undefined;
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  #clearTimers(): void {
    clearImmediate(this.#turn);
    clearTimeout(this.#timer);
    this.#turn = this.#timer = undefined;
  }

  #beRead(): void {
    this.#tellWhole?.(undefined);
    this.#tellWhole = undefined;
  }

  end(): void {
    this.#isWritten = true;
    this.#clearTimers();
    if (this.destroyed) return;
    if (this.#tellWhole !== undefined) {
      this.#tellWhole(this.#bytes.take());
      return;
    }
    if (this.#bytes.length > 0) this.push(this.#bytes.take());
    this.push(null);
  }

  override _read(): void {
    this.#resume?.();
    this.#resume = undefined;
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#clearTimers();
    this.#beRead();
    // The writer must not wait for somebody who has left.
    this._read();
    if (!this.#isWritten) this.#onLeave();
    callback(error);
  }
}
