// Pictures by address, shared by the widgets that show them. Those that no widget shows are kept up to a number of bytes.
import { ImageSource, Texture } from 'pixi.js';

interface Entry {
  readonly address: string;
  texture: Texture | undefined;
  hasFailed: boolean;
  users: number;
  readonly waiting: Set<() => void>;
}

/** Bytes of decoded pictures that no widget shows. */
const UNUSED_BYTES_MAX = 64 * 2 ** 20;

export class Images {
  /** Entries in the order of last use. */
  readonly #entries = new Map<string, Entry>();
  #unused_bytes = 0;

  /** Takes a picture; `changed` is called once it is there or has failed. */
  take(address: string, changed: () => void): Entry {
    const entry = this.#entries.get(address) ?? this.#load(address);
    if (entry.users === 0) this.#unused_bytes -= bytesOf(entry);
    entry.users += 1;
    if (entry.texture === undefined && !entry.hasFailed) entry.waiting.add(changed);
    return entry;
  }

  give(entry: Entry, changed: () => void): void {
    entry.users -= 1;
    entry.waiting.delete(changed);
    if (entry.users > 0) return;
    this.#unused_bytes += bytesOf(entry);
    // It goes to the end: the one that was given back first is dropped first.
    this.#entries.delete(entry.address);
    this.#entries.set(entry.address, entry);
    this.trim(UNUSED_BYTES_MAX);
  }

  /** Drops unused pictures until they have no more bytes than that. */
  trim(bytes: number): void {
    for (const entry of this.#entries.values()) {
      if (this.#unused_bytes <= bytes) return;
      if (entry.users > 0 || (entry.texture === undefined && !entry.hasFailed)) continue;
      this.#unused_bytes -= bytesOf(entry);
      this.#entries.delete(entry.address);
      entry.texture?.destroy(true);
    }
  }

  #load(address: string): Entry {
    const entry: Entry = { address, texture: undefined, hasFailed: false, users: 0, waiting: new Set() };
    this.#entries.set(address, entry);
    void this.#fetch(entry);
    return entry;
  }

  async #fetch(entry: Entry): Promise<void> {
    const image = new Image();
    image.crossOrigin = 'anonymous';
    image.src = entry.address;
    try {
      await image.decode();
      entry.texture = new Texture({ source: new ImageSource({ resource: image }) });
      if (entry.users === 0) this.#unused_bytes += bytesOf(entry);
    } catch {
      entry.hasFailed = true;
    }
    for (const changed of entry.waiting) changed();
    entry.waiting.clear();
  }
}

export type Picture = ReturnType<Images['take']>;

const bytesOf = ({ texture }: Entry): number =>
  texture === undefined ? 0 : 4 * texture.width * texture.height;

/** Part of the picture that is shown, in its own pixels, and where in the widget. */
export interface Fitting {
  readonly part: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
  readonly place: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
}

/** Fits a picture into a widget. `fit` is the number of `cover`, `contain` or `fill`. */
export function fitted(
  fit: number,
  picture: { width: number; height: number },
  width: number,
  height: number,
): Fitting {
  const whole = { x: 0, y: 0, width: picture.width, height: picture.height };
  const all = { x: 0, y: 0, width, height };
  if (fit === 2) return { part: whole, place: all };
  const scales = [width / picture.width, height / picture.height] as const;
  const scale = fit === 0 ? Math.max(...scales) : Math.min(...scales);
  if (fit === 0) return { part: centred(whole, width / scale, height / scale), place: all };
  return { part: whole, place: centred(all, picture.width * scale, picture.height * scale) };
}

const centred = (within: Fitting['part'], width: number, height: number): Fitting['part'] => ({
  x: (within.width - width) / 2,
  y: (within.height - height) / 2,
  width,
  height,
});
