// The stream between processes: bytes, little-endian.
import { type Batch, LIMITS } from './batch.js';
import { VERSION } from './codes.js';
import { StreamError } from './errors.js';

const NAME = 'SLUICES';
const PROLOGUE_BYTES = NAME.length + 1;
const HEAD_BYTES = 12;

/** First bytes of a stream: `SLUICES` and the version. */
export function encodePrologue(): Uint8Array {
  const bytes = new TextEncoder().encode(`${NAME}\0`);
  bytes[NAME.length] = VERSION;
  return bytes;
}

/** Bytes of a batch. Lone surrogates in strings become U+FFFD. */
export function encodeBatch({ words, length, strings, cause }: Batch): Uint8Array {
  const texts = strings.map((text) => new TextEncoder().encode(text));
  let size = HEAD_BYTES + 4 * length;
  for (const text of texts) size += 4 + padded(text.length);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, length, true);
  view.setUint32(4, strings.length, true);
  view.setInt32(8, cause, true);
  let at = HEAD_BYTES;
  for (let word = 0; word < length; word += 1, at += 4) view.setInt32(at, words[word] as number, true);
  for (const text of texts) {
    view.setUint32(at, text.length, true);
    bytes.set(text, at + 4);
    at += 4 + padded(text.length);
  }
  return bytes;
}

/** Reader of a stream that arrives in pieces. After an error it reads nothing more. */
export class WireReader {
  #bytes = new Uint8Array(256);
  #length = 0;
  /** Bytes before those held. */
  #passed = 0;
  #isOpen = false;
  #broken: StreamError | undefined;

  /**
   * Batches that are whole with these bytes. A batch says nothing yet about its commands: the surface checks those.
   *
   * @throws {StreamError} whose `at` is the byte of the stream.
   */
  push(piece: Uint8Array): Batch[] {
    if (this.#broken !== undefined) throw this.#broken;
    this.#hold(piece);
    const batches: Batch[] = [];
    let at = 0;
    try {
      if (!this.#isOpen) {
        if (this.#length < PROLOGUE_BYTES) return batches;
        this.#open();
        at = PROLOGUE_BYTES;
      }
      for (;;) {
        const end = this.#end(at);
        if (end === undefined) break;
        batches.push(this.#batch(at, end));
        at = end;
      }
    } catch (error) {
      if (error instanceof StreamError) this.#broken = error;
      throw error;
    }
    this.#bytes.copyWithin(0, at, this.#length);
    this.#length -= at;
    this.#passed += at;
    return batches;
  }

  /** Whether the bytes so far end with a whole batch. */
  get isWhole(): boolean {
    return this.#isOpen && this.#length === 0;
  }

  #hold(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  #open(): void {
    for (let at = 0; at < NAME.length; at += 1)
      if (this.#bytes[at] !== NAME.charCodeAt(at)) throw new StreamError('it is no stream of a screen', at);
    const version = this.#bytes[NAME.length];
    if (version !== VERSION)
      throw new StreamError(`version ${version} of the stream, not ${VERSION}`, NAME.length);
    this.#isOpen = true;
  }

  /** Place after the batch; undefined while bytes are missing. Limits are checked as soon as a length is there. */
  #end(at: number): number | undefined {
    if (this.#length - at < HEAD_BYTES) return undefined;
    const view = this.#view();
    const words = view.getUint32(at, true);
    const strings = view.getUint32(at + 4, true);
    this.#limit(words, LIMITS.words, 'words in a batch', at);
    this.#limit(strings, LIMITS.strings, 'strings in a batch', at + 4);
    let end = at + HEAD_BYTES + 4 * words;
    for (let index = 0; index < strings; index += 1) {
      if (this.#length < end + 4) return undefined;
      const length = view.getUint32(end, true);
      this.#limit(length, LIMITS.stringBytes, 'bytes in a string', end);
      end += 4 + padded(length);
    }
    return end <= this.#length ? end : undefined;
  }

  #limit(count: number, limit: number, what: string, at: number): void {
    if (count > limit) throw new StreamError(`${count} ${what}, limit is ${limit}`, this.#passed + at);
  }

  #batch(start: number, end: number): Batch {
    const view = this.#view();
    const words = new Int32Array(view.getUint32(start, true));
    const strings: string[] = [];
    let at = start + HEAD_BYTES;
    for (let word = 0; word < words.length; word += 1, at += 4) words[word] = view.getInt32(at, true);
    while (at < end) {
      const length = view.getUint32(at, true);
      const text = this.#bytes.subarray(at + 4, at + 4 + length);
      const padding = this.#bytes.subarray(at + 4 + length, at + 4 + padded(length));
      if (padding.some((byte) => byte !== 0))
        throw new StreamError('bytes after a string are not 0', this.#passed + at);
      strings.push(this.#decode(text, at));
      at += 4 + padded(length);
    }
    return { words, length: words.length, strings, cause: view.getInt32(start + 8, true) };
  }

  #decode(text: Uint8Array, at: number): string {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(text);
    } catch {
      throw new StreamError('a string is no UTF-8', this.#passed + at);
    }
  }

  #view(): DataView {
    return new DataView(this.#bytes.buffer, 0, this.#length);
  }
}

const padded = (length: number): number => (length + 3) & ~3;
