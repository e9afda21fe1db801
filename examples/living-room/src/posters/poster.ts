/** Posters of products, drawn from the product: ground in its category's hue, its kind's drawing in its colours. */
import { PNG } from 'pngjs';
import type { Product } from '../../../storefront/src/catalogue/types.js';
import { drawingOf } from '../../../storefront/src/components/drawings.js';
import { Canvas, strokeOf, type Colour } from './canvas.js';
import { outlineOf, type Polygon } from './outline.js';

/** Pixels of a poster in a row. That of a detail has twice as many each way. */
export const POSTER = { width: 240, height: 360 } as const;

const DRAWING_UNITS = 100;

/** PNG of a product's poster. `scale` is 1 or 2. */
export function posterOf(product: Product, scale: 1 | 2 = 1): Buffer {
  const canvas = new Canvas(POSTER.width * scale, POSTER.height * scale);
  const { hue } = product.category;
  const main = rgbOf(product.colours[0]?.hex ?? '#888888');
  const accent = rgbOf(product.colours[1]?.hex ?? '#ffffff');
  const [top, bottom] = [hsl(hue, 0.42, 0.3), hsl((hue + 30) % 360, 0.46, 0.13)];
  canvas.paint((y) => mix(top, bottom, y));
  const { width, height } = canvas;
  // A sun behind the drawing, at a place of the product's own, so that neighbours differ.
  const sun = width * (0.34 + (product.id % 3) * 0.05);
  canvas.shade(
    [circle(width * (0.3 + (product.id % 5) * 0.1), height * (0.34 + (product.id % 4) * 0.05), sun)],
    accent,
    0.32,
  );
  canvas.shade([ellipse(width / 2, height * 0.8, width * 0.3, height * 0.018)], [0, 0, 0], 0.4);
  const size = width / DRAWING_UNITS;
  const placed = (path: string): Polygon[] =>
    outlineOf(path).map((polygon) =>
      polygon.map(([x, y]) => [x * size, y * size + height * 0.8 - 86 * size] as const),
    );
  // Dark colours would drown in the dark ground.
  const body = lighter(main, 0.44);
  for (const [tone, path] of drawingOf(product.kind.art)) {
    const polygons = placed(path);
    if (tone === 'k')
      canvas.shade(
        polygons.flatMap((line) => strokeOf(line, 4 * size)),
        body,
      );
    else if (tone === 'l') canvas.shade(polygons, [255, 255, 255], 0.42);
    else canvas.shade(polygons, tone === 's' ? mix(body, [0, 0, 0], 0.3) : body);
  }
  const png = new PNG({ width, height });
  png.data.set(canvas.pixels);
  return PNG.sync.write(png, { colorType: 2, deflateLevel: 6, filterType: 2 });
}

function circle(x: number, y: number, radius: number): Polygon {
  return ellipse(x, y, radius, radius);
}

function ellipse(x: number, y: number, across: number, down: number): Polygon {
  return Array.from({ length: 64 }, (_, step) => {
    const angle = (step / 64) * 2 * Math.PI;
    return [x + across * Math.cos(angle), y + down * Math.sin(angle)] as const;
  });
}

function rgbOf(hex: string): Colour {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function mix(from: Colour, to: Colour, share: number): Colour {
  const at = (channel: 0 | 1 | 2): number => from[channel] + (to[channel] - from[channel]) * share;
  return [at(0), at(1), at(2)];
}

/** At least as light as `least`, from 0 to 1. */
function lighter(colour: Colour, least: number): Colour {
  const light = (0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]) / 255;
  return light >= least ? colour : mix(colour, [255, 255, 255], (least - light) / (1 - light));
}

/** Hue in degrees, saturation and lightness from 0 to 1. */
function hsl(hue: number, saturation: number, lightness: number): Colour {
  const channel = (place: number): number => {
    const at = (place + hue / 30) % 12;
    const reach = saturation * Math.min(lightness, 1 - lightness);
    return 255 * (lightness - reach * Math.max(-1, Math.min(at - 3, 9 - at, 1)));
  };
  return [channel(0), channel(8), channel(4)];
}
