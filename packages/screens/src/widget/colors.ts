/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Colours: parsed once, 0xRRGGBBAA. */

const LIMIT = 1_024;
const known = new Map<string, number | null>();

/** Number of a colour, null if it is none. */
export function parseColor(text: string): number | null {
  const before = known.get(text);
  if (before !== undefined) return before;
  const value = parse(text);
  if (known.size >= LIMIT) known.clear();
  known.set(text, value);
  return value;
}

function parse(text: string): number | null {
  if (text === 'transparent') return 0;
  if (/^#[0-9a-f]{3}$/i.test(text)) {
    const digits = Number.parseInt(text.slice(1), 16);
    const [r, g, b] = [digits >> 8, (digits >> 4) & 15, digits & 15] as const;
    return pack(r * 17, g * 17, b * 17, 255);
  }
  if (/^#[0-9a-f]{6}$/i.test(text)) return (Number.parseInt(text.slice(1), 16) << 8) | 255 | 0;
  if (/^#[0-9a-f]{8}$/i.test(text)) return Number.parseInt(text.slice(1), 16) | 0;
  const parts = /^rgba?\(([^)]*)\)$/.exec(text)?.[1]?.split(',');
  if (parts === undefined || (parts.length !== 3 && parts.length !== 4)) return null;
  const [r, g, b, a = 1] = parts.map((part) => (part.trim() === '' ? NaN : Number(part)));
  if (![r, g, b].every((part) => part! >= 0 && part! <= 255) || !(a >= 0 && a <= 1)) return null;
  return pack(Math.round(r!), Math.round(g!), Math.round(b!), Math.round(a * 255));
}

function pack(r: number, g: number, b: number, a: number): number {
  return (r << 24) | (g << 16) | (b << 8) | a;
}
