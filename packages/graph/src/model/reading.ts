/** Read that asks the data source for what is missing until everything is there. */
import { collapsePaths } from '../paths/index.js';
import type { PathSet } from '../types.js';
import { ReadErrors, UnansweredError } from './errors.js';
import type { Pace, Reader, Request, Requests } from './requests.js';
import type { Read } from './read.js';

const ROUNDS = 32;

/** What a read is for. */
export interface ReadingOptions {
  /** Reads the cache. */
  readonly read: () => Read;
  readonly requests: Requests;
  readonly pace: Pace;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (read: Read) => void;
  readonly reject: (error: unknown) => void;
  /** Takes what is there while more is on its way. */
  readonly onPart?: (read: Read) => void;
}

/** Read in progress. */
export class Reading implements Reader {
  readonly #options: ReadingOptions;
  #pending = new Set<Request>();
  #rounds = 0;
  #asked = '';
  readonly #onAbort = (): void => this.fail(this.#options.signal?.reason);

  constructor(options: ReadingOptions) {
    this.#options = options;
  }

  /** Goes on from a first read that has missed something. */
  start(first: Read): void {
    const { signal } = this.#options;
    if (signal?.aborted === true) {
      this.fail(signal.reason);
      return;
    }
    signal?.addEventListener('abort', this.#onAbort);
    this.#ask(first);
  }

  advance(request: Request, isDone: boolean): void {
    if (isDone) this.#pending.delete(request);
    let read;
    try {
      read = this.#options.read();
    } catch (error) {
      this.fail(error);
      return;
    }
    if (read.missing.length === 0) this.#end(() => this.#options.resolve(read));
    else if (this.#pending.size === 0) this.#ask(read);
    else this.#options.onPart?.(read);
  }

  #ask(read: Read): void {
    const { requests, pace } = this.#options;
    const paths = collapsePaths(read.missing, Infinity);
    const text = JSON.stringify(paths);
    if (text === this.#asked || this.#rounds === ROUNDS) {
      this.fail(new UnansweredError(paths, read.json));
      return;
    }
    this.#asked = text;
    this.#rounds += 1;
    this.#pending = requests.ask(this, paths, pace);
  }

  fail(error: unknown): void {
    this.#end(() => this.#options.reject(error));
  }

  #end(settle: () => void): void {
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    for (const request of this.#pending) this.#options.requests.leave(request, this);
    this.#pending.clear();
    settle();
  }
}

/** Checks a read for errors. */
export function withoutErrors(read: Read): Read {
  if (read.errors.length > 0) throw new ReadErrors(read.errors, read.json);
  return read;
}

/** Path sets that a read missed, in as few as possible. */
export function missedBy(read: Read): PathSet[] {
  return read.missing.length === 0 ? [] : collapsePaths(read.missing, Infinity);
}
