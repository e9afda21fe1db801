/**
 * HTML to UTF-8. Stretches are encoded one after the other into slabs that are shared by consecutive renders. A slab is never written
 * twice, so bytes that were handed to a socket stay as they are, and the slab is freed when nobody holds a part of it.
 */

const SLAB_BYTES = 65_536;
/** UTF-8 takes three bytes at most for each UTF-16 unit. */
export const BYTES_PER_UNIT_MAX = 3;

/** A stretch of encoded HTML. It grows while what follows it is encoded right behind it. */
export class Bytes {
  readonly slab: Buffer;
  readonly start: number;
  end: number;

  constructor(slab: Buffer, start: number, end: number) {
    this.slab = slab;
    this.start = start;
    this.end = end;
  }

  get length(): number {
    return this.end - this.start;
  }

  view(): Buffer {
    return this.slab.subarray(this.start, this.end);
  }
}

let slab = Buffer.allocUnsafeSlow(0);
let used = 0;

/** Encodes `html`, behind `last` when that is the end of the slab; returns the stretch it now is in and how many bytes it took. */
export function encodeAfter(last: Bytes | null, html: string): Bytes {
  reserve(html.length * BYTES_PER_UNIT_MAX);
  const start = used;
  used += slab.write(html, start);
  return stretchAfter(last, start);
}

/** The same for what is encoded already, elsewhere. */
export function copyAfter(last: Bytes | null, part: Bytes): Bytes {
  reserve(part.length);
  const start = used;
  used += part.slab.copy(slab, start, part.start, part.end);
  return stretchAfter(last, start);
}

/** Reserves room so that the next stretches, up to so many bytes, stand one behind the other. */
export function reserve(bytes: number): void {
  if (slab.length - used >= bytes) return;
  slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, bytes));
  used = 0;
}

/** Returns the bytes that were written from `start` on. */
function stretchAfter(last: Bytes | null, start: number): Bytes {
  if (last !== null && last.slab === slab && last.end === start) {
    last.end = used;
    return last;
  }
  return new Bytes(slab, start, used);
}
