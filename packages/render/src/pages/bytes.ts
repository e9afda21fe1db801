/**
 * Bytes of a page while it is written. Each text is encoded when it comes. All texts in one string would be put together, counted and
 * encoded once more. One character beyond Latin-1 would double the size of all of it. It must not know what the texts are.
 */

import type { PlacedHtml } from '../tasks/placed-html.js';

/** Bytes that a character takes at most, for one that JavaScript counts once. */
const BYTES_OF_CHARACTER = 3;
/** Characters up to which a text waits for the next one: what encodes a text costs as much as 100 characters do. */
const SHORT_CHARACTERS = 160;
const FIRST_BYTES = 16_384;
const BYTES_MAX = 1_048_576;

/** Size of the latest pages, with some room: most of a server's pages are alike. */
let usual_bytes = FIRST_BYTES;

/** The memory is one page's own, and is never used for another. */
export class PageBytes {
  #bytes = Buffer.allocUnsafeSlow(0);
  #length = 0;
  /** Short texts that are not encoded yet. */
  #short = '';

  /** Number of bytes so far; at least one for each character that is not encoded yet. */
  get length(): number {
    return this.#length + this.#short.length;
  }

  add(text: string): void {
    if (text.length <= SHORT_CHARACTERS) {
      this.#short += text;
      if (this.#short.length > FIRST_BYTES) this.#encodeShort();
      return;
    }
    this.#encodeShort();
    this.#encode(text);
  }

  #encodeShort(): void {
    if (this.#short === '') return;
    this.#encode(this.#short);
    this.#short = '';
  }

  #encode(text: string): void {
    const most = text.length * BYTES_OF_CHARACTER;
    // Exactly, where three bytes a character do not fit: most characters take one.
    if (this.#length + most > this.#bytes.length)
      this.#makeRoom(most < FIRST_BYTES ? most : Buffer.byteLength(text));
    this.#length += this.#bytes.write(text, this.#length, 'utf8');
  }

  addPlaced({ pieces, id }: PlacedHtml): void {
    this.#encodeShort();
    for (let index = 0; index < pieces.length; index += 1) {
      if (index > 0) this.#encode(id);
      this.#copy(pieces[index] as Buffer);
    }
  }

  /** Returns all bytes, and begins anew. */
  take(): Buffer {
    this.#encodeShort();
    const taken = this.#bytes.subarray(0, this.#length);
    usual_bytes = Math.min(Math.max(FIRST_BYTES, Math.ceil(this.#length * 1.125)), BYTES_MAX);
    this.#bytes = Buffer.allocUnsafeSlow(0);
    this.#length = 0;
    return taken;
  }

  #copy(bytes: Buffer): void {
    if (this.#length + bytes.length > this.#bytes.length) this.#makeRoom(bytes.length);
    this.#length += bytes.copy(this.#bytes, this.#length);
  }

  #makeRoom(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2, usual_bytes));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
