/** Texts in styles. It must not know what they say. */

/** A string of CSS: control characters, quotes and backslashes escaped (CSS Syntax 3 §4.3.7). */
export function cssString(text: string): string {
  const inner = text.replaceAll(
    /["\\\p{Cc}]/gu,
    (character) => `\\${character.codePointAt(0)?.toString(16) ?? ''} `,
  );
  return `"${inner}"`;
}
