// Reader of PNG files with 8 bits a channel, as Chromium and the player write them.
import zlib from 'node:zlib';

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** RGBA, row by row. */
  readonly pixels: Uint8Array;
}

const SIGNATURE_BYTES = 8;
const CHANNELS: Readonly<Record<number, number>> = { 2: 3, 6: 4 };

export function readPng(file: Buffer): Picture {
  const data: Buffer[] = [];
  let [width, height, channels] = [0, 0, 0];
  for (let at = SIGNATURE_BYTES; at < file.length;) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    const chunk = file.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') {
      [width, height] = [chunk.readUInt32BE(0), chunk.readUInt32BE(4)];
      channels = CHANNELS[chunk.readUInt8(9)] ?? 0;
      if (chunk.readUInt8(8) !== 8 || channels === 0) throw new Error('a PNG of another kind');
    }
    if (type === 'IDAT') data.push(chunk);
    at += 12 + length;
  }
  return {
    width,
    height,
    pixels: unfiltered(zlib.inflateSync(Buffer.concat(data)), width, height, channels),
  };
}

function unfiltered(rows: Buffer, width: number, height: number, channels: number): Uint8Array {
  const stride = width * channels;
  const bytes = new Uint8Array(stride * height);
  const pixels = new Uint8Array(4 * width * height).fill(255);
  for (let y = 0; y < height; y += 1) {
    const filter = rows[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x < channels ? 0 : (bytes[at - channels] ?? 0);
      const up = y === 0 ? 0 : (bytes[at - stride] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (bytes[at - stride - channels] ?? 0);
      bytes[at] = (rows[y * (stride + 1) + 1 + x] ?? 0) + predicted(filter, left, up, corner);
      const pixel = y * width + Math.floor(x / channels);
      pixels[4 * pixel + (x % channels)] = bytes[at] ?? 0;
    }
  }
  return pixels;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const guess = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

/** Colour of a pixel, `#rrggbb`. */
export function pixel({ width, pixels }: Picture, x: number, y: number): string {
  const at = 4 * (y * width + x);
  return `#${Buffer.from(pixels.subarray(at, at + 3)).toString('hex')}`;
}
