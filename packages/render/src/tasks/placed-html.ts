/**
 * Cached HTML at one place of a page: the cache's UTF-8 as it is, with the place's id where ids go. A page copies it, and neither replaces
 * ids in a text nor encodes it. It must not know caches or pages.
 */

/** HTML of a component: as it was made, or as a cache has it. */
export type Html = string | PlacedHtml;

export class PlacedHtml {
  /** Bytes between the ids. Not to be changed: they are the cache's. */
  readonly pieces: readonly Buffer[];
  readonly id: string;

  constructor(pieces: readonly Buffer[], id: string) {
    this.pieces = pieces;
    this.id = id;
  }

  toString(): string {
    return this.pieces.map((piece) => piece.toString()).join(this.id);
  }
}

/** The UTF-8 of a text, cut where `place` stands. The pieces share memory that is theirs alone: who keeps them keeps no slab. */
export function piecesOf(html: string, place: string): readonly Buffer[] {
  const texts = html.split(place);
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const bytes = Buffer.allocUnsafeSlow(lengths.reduce((sum, length) => sum + length, 0));
  let end = 0;
  return texts.map((text) => {
    const start = end;
    end += bytes.write(text, start);
    return bytes.subarray(start, end);
  });
}
