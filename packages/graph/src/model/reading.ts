/** Read that asks the data source for what is missing until everything is there. A view without a data source takes what is there. */
import { collapse } from '../paths/index.js';
import type { PathSet } from '../types.js';
import { ReadErrors, UnansweredError } from './errors.js';
import type { Reader, Request, Requests } from './requests.js';
import type { Read } from './read.js';
import type { View } from './view.js';

const ROUNDS = 32;

/** Read in progress. */
export class Reading implements Reader {
  /** Values, once everything is there. */
  readonly whole: Promise<Read>;
  readonly #view: View;
  readonly #pathSets: readonly PathSet[];
  readonly #signal: AbortSignal | undefined;
  /** Takes what is there while more is on its way. */
  readonly #onPart: ((read: Read) => void) | undefined;
  #resolve!: (read: Read) => void;
  #reject!: (error: unknown) => void;
  #pending = new Set<Request>();
  #rounds = 0;
  #asked = '';

  constructor(
    view: View,
    pathSets: readonly PathSet[],
    signal: AbortSignal | undefined,
    onPart?: (read: Read) => void,
  ) {
    this.#view = view;
    this.#pathSets = pathSets;
    this.#signal = signal;
    this.#onPart = onPart;
    this.whole = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const first = view.read(pathSets);
    if (signal?.aborted === true) this.handleEvent();
    else if (first.missing.length === 0 || view.requests === undefined) this.#resolve(first);
    else {
      signal?.addEventListener('abort', this);
      onPart?.(first);
      this.#ask(first);
    }
  }

  /** Takes the abort of the signal. */
  handleEvent(): void {
    this.fail(this.#signal?.reason);
  }

  advance(request: Request, isDone: boolean): void {
    if (isDone) this.#pending.delete(request);
    let read;
    try {
      read = this.#view.read(this.#pathSets);
    } catch (error) {
      this.fail(error);
      return;
    }
    if (read.missing.length === 0) {
      this.#end();
      this.#resolve(read);
    } else if (this.#pending.size === 0) this.#ask(read);
    else this.#onPart?.(read);
  }

  #ask(read: Read): void {
    const paths = collapse(read.missing);
    const text = JSON.stringify(paths);
    if (text === this.#asked || this.#rounds === ROUNDS) {
      this.fail(new UnansweredError(paths, read.json));
      return;
    }
    this.#asked = text;
    this.#rounds += 1;
    this.#pending = (this.#view.requests as Requests).ask(this, paths, this.#view.settings.pace);
  }

  fail(error: unknown): void {
    this.#end();
    this.#reject(error);
  }

  #end(): void {
    this.#signal?.removeEventListener('abort', this);
    for (const request of this.#pending) this.#view.requests?.leave(request, this);
    this.#pending.clear();
  }
}

/** Checks a read for errors. */
export function withoutErrors(read: Read): Read {
  if (read.errors.length > 0) throw new ReadErrors(read.errors, read.json);
  return read;
}
