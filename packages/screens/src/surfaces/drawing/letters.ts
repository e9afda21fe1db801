import type { Font, Width } from '../core/paragraph.js';

const WIDTHS_MAX = 4096;
const BOLD = 600;

/** Width of texts in the browser's fonts, as its canvas measures them. */
export function canvasWidth(): { readonly widthOf: Width; readonly forget: () => void } {
  const context = document.createElement('canvas').getContext('2d');
  const widths = new Map<string, number>();
  const widthOf = (text: string, { size, weight, family }: Font): number => {
    const font = `${weight >= BOLD ? 'bold ' : ''}${size}px ${family}`;
    const key = `${font}\n${text}`;
    const known = widths.get(key);
    if (known !== undefined) return known;
    if (context === null) return 0;
    context.font = font;
    const { width } = context.measureText(text);
    if (widths.size >= WIDTHS_MAX) widths.clear();
    widths.set(key, width);
    return width;
  };
  return { widthOf, forget: () => widths.clear() };
}
