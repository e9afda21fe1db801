/** Where flushed HTML goes: a string, a Node stream, or a web stream. */
import type { Readable, Writable } from 'node:stream';
import { BYTES_PER_UNIT_MAX, copyAfter, encodeAfter, reserve, type Bytes } from '../facts/encode.js';
import { viewBytes } from '../facts/versions.js';
import type { Sink } from '../state/render.js';

/** For the renders that give a string: they are flushed once, to the end. */
export class StringSink implements Sink {
  html = '';
  error: unknown;
  failed = false;

  text(html: string): void {
    this.html += html;
  }

  apart(html: string): void {
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

/** No chunk of what was gathered is longer. */
const CHUNK_BYTES = 16_384;
const COPIED_BYTES_MAX = 2048;

/** Gathers short pieces; stretches that are long already go out as they are, in their order. */
abstract class ChunkedSink implements Sink {
  /** What has been gathered. Handed on before a turn ends, so that no other render's HTML comes behind it. */
  #chunk: Bytes | null = null;
  #capacity = true;
  /** Handed on since the last turn's end, and whether a string of its own was among it. */
  #handed = 0;
  #wasApart = false;

  protected abstract write(chunk: Buffer): boolean;
  abstract end(): void;
  abstract destroy(error: unknown): void;

  text(html: string): void {
    if (html === '') return;
    const needed = html.length * BYTES_PER_UNIT_MAX;
    if (needed > CHUNK_BYTES) {
      this.#passOn();
      this.#hand(encodeAfter(null, html));
      return;
    }
    this.#makeRoom(needed);
    this.#chunk = encodeAfter(this.#chunk, html);
  }

  apart(html: string): void {
    if (html === '') return;
    this.#passOn();
    this.#hand(encodeAfter(null, html));
    this.#wasApart = true;
  }

  bytes(part: Bytes): void {
    if (part.length > COPIED_BYTES_MAX) {
      this.#passOn();
      this.#hand(part);
      return;
    }
    this.#makeRoom(part.length);
    this.#chunk = copyAfter(this.#chunk, part);
  }

  handOn(): void {
    this.#passOn();
    this.#capacity = true;
    this.#handed = 0;
    this.#wasApart = false;
  }

  flush(): void {
    this.handOn();
  }

  hasCapacity(): boolean {
    // The reader is asked as often as react-dom asks, and what it says counts from when react-dom would have asked it first.
    const gathered = this.#chunk?.length ?? 0;
    const isAskedFirst = this.#handed < viewBytes && this.#handed + gathered >= viewBytes;
    if (isAskedFirst || gathered >= viewBytes) this.#passOn();
    return this.#capacity || (this.#handed < viewBytes && !this.#wasApart);
  }

  /** Where chunks end depends on this render alone: a reader may notice it. */
  #makeRoom(bytes: number): void {
    if (this.#chunk !== null && this.#chunk.length + bytes > CHUNK_BYTES) this.#passOn();
    if (this.#chunk === null) reserve(CHUNK_BYTES);
  }

  #passOn(): void {
    const chunk = this.#chunk;
    if (chunk === null) return;
    this.#chunk = null;
    this.#hand(chunk);
  }

  #hand(chunk: Bytes): void {
    this.#handed += chunk.length;
    if (!this.write(chunk.view())) this.#capacity = false;
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
