/**
 * HTML to UTF-8. Stretches are encoded one after the other into slabs that are shared by consecutive renders; a slab is never written twice, so
 * what has been handed to a socket stays as it is, and it is freed when nobody holds a part of it.
 */
/** A stretch of encoded HTML. It grows while what follows it is encoded right behind it. */
export declare class Bytes {
    readonly slab: Buffer;
    readonly start: number;
    end: number;
    constructor(slab: Buffer, start: number, end: number);
    get length(): number;
    view(): Buffer;
}
/** Encodes `html`, behind `last` when that is the end of the slab; returns the stretch it now is in and how many bytes it took. */
export declare function encodeAfter(last: Bytes | null, html: string): Bytes;
