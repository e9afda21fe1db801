// Lines of a text: broken at line ends, and at spaces where the width ends.
export interface Font {
  /** Pixels. */
  readonly size: number;
  readonly weight: number;
  readonly family: string;
  /** Height of a line, pixels. */
  readonly line_px: number;
}

/** Width of a piece of text without line ends, in pixels. */
export type Width = (text: string, font: Font) => number;

/** Metrics without fonts, for tests and servers: every character is half as wide as the font's size. */
export const fixedWidth: Width = (text, { size }) => Array.from(text).length * size * 0.5;

const ELLIPSIS = '…';

/** Lines of the text within the width; a word that is wider has a line of its own. `most` is the limit of lines, 0 for none. */
export function linesOf(text: string, font: Font, width: number, most: number, widthOf: Width): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line: string | undefined;
    for (const word of paragraph.split(' ')) {
      const longer: string = line === undefined ? word : `${line} ${word}`;
      if (line === undefined || widthOf(longer, font) <= width) line = longer;
      else {
        lines.push(line);
        line = word;
      }
    }
    lines.push(line ?? '');
  }
  if (most <= 0 || lines.length <= most) return lines;
  const kept = lines.slice(0, most);
  kept[most - 1] = shortened(kept[most - 1] ?? '', font, width, widthOf);
  return kept;
}

function shortened(line: string, font: Font, width: number, widthOf: Width): string {
  const letters = Array.from(line);
  while (letters.length > 0 && widthOf(letters.join('') + ELLIPSIS, font) > width) letters.pop();
  return letters.join('').trimEnd() + ELLIPSIS;
}

/** Width of the widest line, pixels. */
export function widest(lines: readonly string[], font: Font, widthOf: Width): number {
  let width = 0;
  for (const line of lines) width = Math.max(width, widthOf(line, font));
  return width;
}
