/** Batch: all that one commit changes. */
export interface Batch {
  readonly words: Int32Array;
  /** Words in use. */
  readonly length: number;
  readonly strings: readonly string[];
  /** `sequence` of the key that led to the batch, or 0. */
  readonly cause: number;
}

/** Limits of a batch. */
export const LIMITS = { words: 2 ** 24, strings: 2 ** 20, stringBytes: 2 ** 24 } as const;

/** The same words, read as floats. */
export const floatsOf = (words: Int32Array): Float32Array =>
  new Float32Array(words.buffer, words.byteOffset, words.length);

/** Bytes of a string in UTF-8. A lone surrogate counts as U+FFFD, which replaces it. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    bytes += 1;
    if (unit < 0x800) continue;
    const isPair = unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    if (isPair) at += 1;
    bytes += 1;
  }
  return bytes;
}
