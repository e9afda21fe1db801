// Gradients: `ANGLE COLOR AT, COLOR AT…`.
import { FillGradient } from 'pixi.js';

interface Gradient {
  readonly degrees: number;
  readonly stops: readonly { readonly color: string; readonly offset: number }[];
}

/** Gradient of a text; undefined if it is none. */
export function parseGradient(source: string): Gradient | undefined {
  const [, angle, list] = /^\s*(-?[\d.]+)\s+(.+)$/s.exec(source) ?? [];
  const stops = list?.split(',').map((stop) => /^\s*(#[0-9a-f]{8})\s+(-?[\d.]+)\s*$/i.exec(stop));
  if (stops === undefined || !stops.every((stop) => stop !== null)) return undefined;
  const degrees = Number(angle);
  const offsets = stops.map(([, color = '', at]) => ({
    color,
    offset: Math.min(Math.max(Number(at), 0), 1),
  }));
  return [degrees, ...offsets.map(({ offset }) => offset)].every(Number.isFinite)
    ? { degrees, stops: offsets }
    : undefined;
}

/** Fill of a box of this size, pixels. Its line is as long as in CSS: it reaches the corners. */
export function fillOf({ degrees, stops }: Gradient, width: number, height: number): FillGradient {
  const angle = (degrees * Math.PI) / 180;
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  const half = (Math.abs(width * sin) + Math.abs(height * cos)) / 2;
  const [x, y] = [sin * half, -cos * half];
  // PixiJS turns the colours around, and with this mode nothing else, where the line goes left or up.
  const isTurned = width / 2 + x - (width / 2 - x) < 0 || height / 2 + y - (height / 2 - y) < 0;
  return new FillGradient({
    type: 'linear',
    start: { x: width / 2 - x, y: height / 2 - y },
    end: { x: width / 2 + x, y: height / 2 + y },
    colorStops: stops.map(({ color, offset }) => ({ color, offset: isTurned ? 1 - offset : offset })),
    textureSpace: 'global',
    wrapMode: 'mirror-repeat',
  });
}
