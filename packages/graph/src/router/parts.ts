/**
 * Parts of an answer as an iterable, which holds few of them. A generator would wait for its next part before it sees that its reader has left.
 */
import type { Envelope } from '../types.js';
import type { RouteError } from './errors.js';

/** Parts without a reader from which on the reader is behind. */
const PARTS_MAX = 4;

/** Receiver of the parts that work makes. */
export interface PartReceiver {
  give(part: Envelope): void;
  /** Frees the parts that wait for a reader who takes none. The request ends with the error, with which the next read rejects. */
  stall(error: RouteError): void;
  /** Promise that resolves when fewer parts wait for a reader that is behind, or it leaves; undefined for a reader that keeps up. */
  readonly behind: Promise<void> | undefined;
  /** Promise that resolves when the reader takes its next part, however many wait, or leaves. */
  readonly taken: Promise<void>;
}

/** Work that gives parts, and ends early when the signal aborts. It may give parts to a reader that is behind, but should wait. */
export type PartWork = (receiver: PartReceiver, signal: AbortSignal) => Promise<void>;

type Result = IteratorResult<Envelope, undefined>;

interface Reader {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

const DONE: Result = { done: true, value: undefined };

/** Event that comes again and again. Its promise is made where somebody waits for it. */
class Moment {
  #waiting: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  /** Promise that resolves when the event comes next. */
  get next(): Promise<void> {
    if (this.#waiting === undefined) {
      let resolve = (): void => undefined;
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#waiting = { promise, resolve };
    }
    return this.#waiting.promise;
  }

  come(): void {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }
}

/** Runs work at the first read. A reader that stops aborts it, and so does the signal. */
export class Parts implements AsyncIterableIterator<Envelope, undefined>, PartReceiver {
  readonly #work: PartWork;
  readonly #outer: AbortSignal | undefined;
  readonly #onStall: ((error: RouteError) => void) | undefined;
  readonly #controller = new AbortController();
  readonly #parts: Envelope[] = [];
  readonly #readers: Reader[] = [];
  #state: 'new' | 'open' | 'ended' = 'new';
  #failure: { readonly error: unknown } | undefined;
  readonly #taking = new Moment();
  readonly #catchingUp = new Moment();

  constructor(
    work: PartWork,
    { signal, onStall }: { readonly signal?: AbortSignal; readonly onStall?: (error: RouteError) => void },
  ) {
    this.#work = work;
    this.#outer = signal;
    this.#onStall = onStall;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.#state === 'new') void this.#run();
    const part = this.#parts.shift();
    this.#taking.come();
    if (this.#parts.length < PARTS_MAX) this.#catchingUp.come();
    if (part !== undefined) return Promise.resolve({ done: false, value: part });
    if (this.#state !== 'ended') {
      return new Promise((resolve, reject) => {
        this.#readers.push({ resolve, reject });
      });
    }
    const failure = this.#failure;
    this.#failure = undefined;
    return failure === undefined ? Promise.resolve(DONE) : Promise.reject(failure.error);
  }

  return(): Promise<Result> {
    this.#state = 'ended';
    this.#parts.length = 0;
    this.#failure = undefined;
    this.#controller.abort(new Error('The reader of the stream has left'));
    for (const reader of this.#readers.splice(0)) reader.resolve(DONE);
    this.#release();
    return Promise.resolve(DONE);
  }

  get behind(): Promise<void> | undefined {
    return this.#state === 'ended' || this.#parts.length < PARTS_MAX ? undefined : this.#catchingUp.next;
  }

  get taken(): Promise<void> {
    return this.#state === 'ended' ? Promise.resolve() : this.#taking.next;
  }

  #release(): void {
    this.#taking.come();
    this.#catchingUp.come();
  }

  async #run(): Promise<void> {
    this.#state = 'open';
    const outer = this.#outer;
    const leave = (): void => this.#controller.abort(outer?.reason);
    if (outer?.aborted === true) leave();
    else outer?.addEventListener('abort', leave, { once: true });
    try {
      await this.#work(this, this.#controller.signal);
      this.#end(undefined);
    } catch (error) {
      this.#end({ error });
    } finally {
      outer?.removeEventListener('abort', leave);
    }
  }

  give(part: Envelope): void {
    if (this.#state === 'ended') return;
    const reader = this.#readers.shift();
    if (reader === undefined) this.#parts.push(part);
    else reader.resolve({ done: false, value: part });
  }

  stall(error: RouteError): void {
    this.#parts.length = 0;
    this.#onStall?.(error);
  }

  #end(failure: { readonly error: unknown } | undefined): void {
    const wasEnded = this.#state === 'ended';
    this.#state = 'ended';
    this.#release();
    if (wasEnded) return;
    const [first, ...others] = this.#readers.splice(0);
    if (first === undefined) this.#failure = failure;
    else if (failure === undefined) first.resolve(DONE);
    else first.reject(failure.error);
    for (const reader of others) reader.resolve(DONE);
  }
}
