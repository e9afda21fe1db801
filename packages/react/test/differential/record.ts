/** What is written down while a scenario is rendered, and the stream that a renderer writes into. */

import { Writable } from 'node:stream';
import type { World } from './world.ts';

/** Between a step's name and its text: either renderer's text may go further than the other's. */
export const cutMark = ', cut short: ';

export class Log {
  finished = false;
  /** A web stream that errors drops what was not read yet, and how much that is depends on the size of its chunks. */
  cut = false;
  readonly #lines: string[] = [];
  #bytes: Buffer[] = [];
  #length = 0;
  #events: string[] = [];
  readonly #anywhere: boolean;
  readonly #withoutNul: boolean;

  /**
   * `anywhere`: do not say at which byte an event came. To a destination that is full, larger or smaller chunks come at
   * other times, and a renderer may choose them.
   * `withoutNul`: React 18 leaves zero bytes where a character does not fit into its buffer any more.
   */
  constructor(anywhere: boolean, withoutNul: boolean) {
    this.#anywhere = anywhere;
    this.#withoutNul = withoutNul;
  }

  get size(): number {
    return this.#length + this.#events.length + this.#lines.length;
  }

  write(given: Buffer): void {
    const bytes = this.#withoutNul ? Buffer.from(given.filter((byte) => byte !== 0)) : given;
    this.#bytes.push(bytes);
    this.#length += bytes.length;
  }

  /** Events carry the count of bytes before them, so that a callback that comes early or late is seen. */
  event(text: string): void {
    this.#events.push(this.#anywhere ? text : `@${this.#length} ${text}`);
  }

  step(name: string): void {
    const events = this.cut ? this.#events.map((event) => event.replace(/^@\d+ /, '')) : this.#events;
    this.#lines.push(...events, `${name}${this.cut ? cutMark : ': '}${textOf(Buffer.concat(this.#bytes))}`);
    this.#events = [];
    this.#bytes = [];
  }

  lines(): string[] {
    return [...this.#lines, ...this.#events];
  }
}

/** Bytes that are no UTF-8 are shown as such: a decoder would make the same sign of all of them. */
function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : `latin1 ${bytes.toString('latin1')}`;
}

export class Destination extends Writable {
  readonly #log: Log;
  readonly #world: World;
  readonly #slow: boolean;
  #draining = false;

  constructor(log: Log, world: World, slow: boolean) {
    super({ highWaterMark: 1 << 20 });
    this.#log = log;
    this.#world = world;
    this.#slow = slow;
    this.on('error', (error) => log.event(`destination error ${shownError(error)}`));
  }

  /** When slow it is always full, and drains once in a turn: however many writes a renderer made of its bytes. */
  override write(...args: unknown[]): boolean {
    if (!this.#slow) return super.write(...(args as Parameters<Writable['write']>));
    this.#take(Buffer.from(args[0] as Uint8Array));
    if (!this.#draining) {
      this.#draining = true;
      setImmediate(() => {
        this.#draining = false;
        this.emit('drain');
      });
    }
    return false;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#take(chunk);
    done();
  }

  #take(chunk: Buffer): void {
    // A renderer that keeps its buffer must not change what it has handed out: copy as a socket's kernel would.
    this.#log.write(Buffer.from(chunk));
    this.#world.activity += 1;
  }

  override _final(done: () => void): void {
    this.#log.finished = true;
    this.#log.event('end');
    done();
  }

  override _destroy(error: Error | null, done: () => void): void {
    if (!this.#log.finished) this.#log.event(`destroyed ${shownError(error)}`);
    this.#log.finished = true;
    done();
  }

  /** Compressing middleware has this; a renderer calls it where what is written so far should reach the client. */
  flush(): void {
    if (!this.#slow) this.#log.event('flush');
  }
}

export function shownError(error: unknown): string {
  if (error instanceof Error) {
    const { digest, cause } = error as { digest?: string; cause?: unknown };
    return `${error.name}: ${error.message}${digest === undefined ? '' : ` (${digest})`}${
      cause === undefined ? '' : ` because ${shownError(cause)}`
    }`;
  }
  if (typeof error === 'object' && error !== null) return `object ${Object.keys(error).join()}`;
  return typeof error === 'symbol' ? error.toString() : `${typeof error} ${String(error)}`;
}
