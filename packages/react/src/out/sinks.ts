/** Destinations of flushed HTML: a string, a Node stream, or a web stream. */
import type { Readable } from 'node:stream';
import { BYTES_PER_UNIT_MAX, copyAfter, encodeAfter, reserve, type Bytes } from '../facts/encode.js';
import { profile } from '../facts/profile.js';
import type { Sink } from '../state/render.js';

function nothing(): void {
  // Nobody reads before the end.
}

/** Sink for the renders that give their HTML as a whole: they are flushed once, to the end. */
abstract class WholeSink implements Sink {
  readonly handOn = nothing;
  readonly flush = nothing;
  readonly end = nothing;
  error: unknown;
  failed = false;

  abstract text(html: string): void;
  abstract bytes(part: Bytes): void;

  apart(html: string): void {
    this.text(html);
  }

  hasCapacity(): boolean {
    return true;
  }

  destroy(error: unknown): void {
    this.failed = true;
    this.error = error;
  }
}

export class StringSink extends WholeSink {
  html = '';

  text(html: string): void {
    this.html += html;
  }

  bytes(part: Bytes): void {
    this.html += part.view().toString();
  }
}

export class BufferSink extends WholeSink {
  readonly #parts: Bytes[] = [];
  #last: Bytes | null = null;
  #length = 0;

  text(html: string): void {
    if (html === '') return;
    const before = this.#last?.length ?? 0;
    const part = encodeAfter(this.#last, html);
    if (part === this.#last) this.#length += part.length - before;
    else this.#add(part);
    this.#last = part;
  }

  bytes(part: Bytes): void {
    this.#add(part);
    this.#last = null;
  }

  #add(part: Bytes): void {
    this.#parts.push(part);
    this.#length += part.length;
  }

  /** Returns all of it, in memory of its own: who keeps it keeps no slab. */
  whole(): Buffer {
    const whole = Buffer.allocUnsafeSlow(this.#length);
    let at = 0;
    for (const { slab, start, end } of this.#parts) at += slab.copy(whole, at, start, end);
    return whole;
  }
}

/** No chunk of what was gathered is longer. */
const CHUNK_BYTES = 16_384;
const COPIED_BYTES_MAX = 2048;

/** Reader of the chunks. */
export interface Reader {
  write(chunk: Buffer): boolean;
  /** Compressing middlewares add this method. */
  flush?: () => void;
  end(): void;
  destroy(error: unknown): void;
}

/** Gathers short pieces; stretches that are long already go out as they are, in their order. */
export class ChunkedSink implements Sink {
  readonly #reader: Reader;
  /** Gathered chunk. Handed on before a turn ends, so that no other render's HTML comes behind it. */
  #chunk: Bytes | null = null;
  #capacity = true;
  /** Handed on since the last turn's end, and whether a string of its own was among it. */
  #handed = 0;
  #wasApart = false;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

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
    if (typeof this.#reader.flush === 'function') this.#reader.flush();
  }

  end(): void {
    this.#reader.end();
  }

  destroy(error: unknown): void {
    this.#reader.destroy(error);
  }

  hasCapacity(): boolean {
    // The reader is asked as often as react-dom asks, and what it says counts from when react-dom would have asked it first.
    const gathered = this.#chunk?.length ?? 0;
    const isAskedFirst = this.#handed < profile.viewBytes && this.#handed + gathered >= profile.viewBytes;
    if (isAskedFirst || gathered >= profile.viewBytes) this.#passOn();
    return this.#capacity || (this.#handed < profile.viewBytes && !this.#wasApart);
  }

  /** Makes room. The end of a chunk depends on this render alone, because a reader may notice it. */
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
    if (!this.#reader.write(chunk.view())) this.#capacity = false;
  }
}

export function webReader(controller: ReadableByteStreamController): Reader {
  return {
    write(chunk) {
      // The stream takes the memory behind a chunk for itself, so each gets its own.
      controller.enqueue(new Uint8Array(chunk));
      return true;
    },
    end: () => controller.close(),
    destroy: (error) => controller.error(error),
  };
}

export function nodeReader(readable: Readable): Reader {
  return {
    write: (chunk) => readable.push(chunk),
    end: () => void readable.push(null),
    destroy: (error) => void readable.destroy(error as Error),
  };
}
