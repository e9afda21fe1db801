/** A picture in memory that polygons are filled into, with smooth edges. */
import type { Point, Polygon } from './outline.js';

export type Colour = readonly [red: number, green: number, blue: number];

/** Rows that a row of pixels is cut into. */
const CUTS = 4;

export class Canvas {
  /** RGBA, row by row. */
  readonly pixels: Uint8Array;
  readonly width: number;
  readonly height: number;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.pixels = new Uint8Array(width * height * 4);
  }

  /** Colours each row by its place, from 0 at the top to 1. */
  paint(colour: (y: number) => Colour): void {
    for (let y = 0; y < this.height; y += 1) {
      const [red, green, blue] = colour(y / this.height);
      const end = (y + 1) * this.width * 4;
      for (let at = y * this.width * 4; at < end; at += 4) {
        this.pixels[at] = red;
        this.pixels[at + 1] = green;
        this.pixels[at + 2] = blue;
        this.pixels[at + 3] = 255;
      }
    }
  }

  /** Colours what the polygons wind around. `opacity` is from 0 to 1. */
  shade(polygons: readonly Polygon[], colour: Colour, opacity = 1): void {
    const ys = polygons.flatMap((polygon) => polygon.map(([, y]) => y));
    const top = Math.max(0, Math.floor(Math.min(...ys)));
    const bottom = Math.min(this.height, Math.ceil(Math.max(...ys)));
    const cover = new Float32Array(this.width);
    for (let y = top; y < bottom; y += 1) {
      cover.fill(0);
      for (let cut = 0; cut < CUTS; cut += 1) this.#span(polygons, y + (cut + 0.5) / CUTS, cover);
      for (let x = 0; x < this.width; x += 1) {
        const share = ((cover[x] ?? 0) / CUTS) * opacity;
        if (share > 0) this.#blend((y * this.width + x) * 4, colour, Math.min(1, share));
      }
    }
  }

  #span(polygons: readonly Polygon[], y: number, cover: Float32Array): void {
    const crossings = polygons.flatMap((polygon) => crossingsOf(polygon, y)).sort((a, b) => a.x - b.x);
    let winding = 0;
    crossings.forEach(({ x, turn }, place) => {
      winding += turn;
      const end = crossings[place + 1]?.x;
      if (winding === 0 || end === undefined) return;
      const [from, to] = [Math.max(0, x), Math.min(this.width, end)];
      for (let pixel = Math.floor(from); pixel < to; pixel += 1)
        cover[pixel] = (cover[pixel] ?? 0) + Math.min(pixel + 1, to) - Math.max(pixel, from);
    });
  }

  #blend(at: number, colour: Colour, share: number): void {
    for (let channel = 0; channel < 3; channel += 1) {
      const before = this.pixels[at + channel] ?? 0;
      this.pixels[at + channel] = Math.round(before + ((colour[channel] ?? 0) - before) * share);
    }
  }
}

interface Crossing {
  readonly x: number;
  readonly turn: 1 | -1;
}

function crossingsOf(polygon: Polygon, y: number): Crossing[] {
  return polygon.flatMap(([x1, y1], place): Crossing[] => {
    const [x2, y2] = polygon[(place + 1) % polygon.length] as Point;
    if (y1 <= y === y2 <= y) return [];
    return [{ x: x1 + ((y - y1) / (y2 - y1)) * (x2 - x1), turn: y2 > y1 ? 1 : -1 }];
  });
}

/** A line of some width with round ends, as polygons that are filled together. */
export function strokeOf(line: Polygon, width: number): Polygon[] {
  return line.slice(1).map((to, place): Polygon => {
    const from = line[place] as Point;
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
    // Half a circle around each end.
    const cap = ([x, y]: Point, start: number): Point[] =>
      Array.from({ length: 9 }, (_, step): Point => {
        const turn = start + (Math.PI * step) / 8;
        return [x + (width / 2) * Math.cos(turn), y + (width / 2) * Math.sin(turn)];
      });
    return [...cap(to, angle - Math.PI / 2), ...cap(from, angle + Math.PI / 2)];
  });
}
