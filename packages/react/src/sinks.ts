/** Where flushed HTML goes: a string, a Node stream, or a web stream. */
import type { Readable, Writable } from 'node:stream';
import type { Bytes } from './encode.js';
import { viewBytes } from './versions.js';
import type { Sink } from './work.js';

/** For the renders that give a string: they are flushed once, to the end. */
export class StringSink implements Sink {
  html = '';
  error: unknown;
  failed = false;

  text(html: string): void {
    this.html += html;
  }

  bytes(part: Bytes): void {
    this.html += part.view().toString();
  }

  handOn(): void {
    // Nobody reads before the end.
  }

  flush(): void {
    // As above.
  }

  hasCapacity(): boolean {
    return true;
  }

  end(): void {
    // The string is complete.
  }

  destroy(error: unknown): void {
    this.failed = true;
    this.error = error;
  }
}

/** Gathers short pieces; stretches that are long already go out as they are, in their order. */
const CHUNK_BYTES = 16_384;
const COPIED_BYTES_MAX = 2048;

abstract class ChunkedSink implements Sink {
  #chunk = Buffer.alloc(0);
  #used = 0;
  #capacity = true;

  protected abstract write(chunk: Buffer): boolean;
  abstract end(): void;
  abstract destroy(error: unknown): void;

  text(html: string): void {
    if (html === '') return;
    const needed = html.length * 3;
    if (needed > CHUNK_BYTES) {
      this.#passOn();
      this.#hand(Buffer.from(html));
      return;
    }
    this.#makeRoom(needed);
    this.#used += this.#chunk.write(html, this.#used);
  }

  bytes(part: Bytes): void {
    if (part.length > COPIED_BYTES_MAX) {
      this.#passOn();
      this.#hand(part.view());
      return;
    }
    this.#makeRoom(part.length);
    this.#used += part.slab.copy(this.#chunk, this.#used, part.start, part.end);
  }

  handOn(): void {
    this.#passOn();
    this.#capacity = true;
  }

  flush(): void {
    this.handOn();
  }

  hasCapacity(): boolean {
    // The reader is asked as often as react-dom asks.
    if (this.#used >= viewBytes) this.#passOn();
    return this.#capacity;
  }

  #makeRoom(bytes: number): void {
    if (this.#chunk.length - this.#used >= bytes) return;
    this.#passOn();
    this.#chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  }

  #passOn(): void {
    if (this.#used === 0) return;
    const chunk = this.#chunk.subarray(0, this.#used);
    // What is left of the buffer serves the next pieces of this render; what was handed on is not touched again.
    this.#chunk = this.#chunk.subarray(this.#used);
    this.#used = 0;
    this.#hand(chunk);
  }

  #hand(chunk: Buffer): void {
    if (!this.write(chunk)) this.#capacity = false;
  }
}

export class WritableSink extends ChunkedSink {
  readonly #destination: Writable & { flush?: () => void };

  constructor(destination: Writable) {
    super();
    this.#destination = destination;
  }

  protected write(chunk: Buffer): boolean {
    return this.#destination.write(chunk);
  }

  override flush(): void {
    super.flush();
    // Compressing middlewares add this method.
    if (typeof this.#destination.flush === 'function') this.#destination.flush();
  }

  end(): void {
    this.#destination.end();
  }

  destroy(error: unknown): void {
    this.#destination.destroy(error as Error);
  }
}

export class ReadableSink extends ChunkedSink {
  readonly #controller: ReadableByteStreamController;

  constructor(controller: ReadableByteStreamController) {
    super();
    this.#controller = controller;
  }

  protected write(chunk: Buffer): boolean {
    // The stream takes the memory behind a chunk for itself, so each gets its own.
    this.#controller.enqueue(new Uint8Array(chunk));
    return true;
  }

  end(): void {
    this.#controller.close();
  }

  destroy(error: unknown): void {
    this.#controller.error(error);
  }
}

export class NodeReadableSink extends ChunkedSink {
  readonly #readable: Readable;

  constructor(readable: Readable) {
    super();
    this.#readable = readable;
  }

  protected write(chunk: Buffer): boolean {
    return this.#readable.push(chunk);
  }

  end(): void {
    this.#readable.push(null);
  }

  destroy(error: unknown): void {
    this.#readable.destroy(error as Error);
  }
}
