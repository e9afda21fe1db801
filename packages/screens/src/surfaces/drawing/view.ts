// View: what draws a box. It has only those parts that the box needs.
import {
  AlphaFilter,
  Container,
  type FillGradient,
  Graphics,
  Matrix,
  Rectangle,
  Sprite,
  Text,
  Texture,
} from 'pixi.js';
import { PROPERTIES } from '../../stream/codes.js';
import type { Box } from '../core/box.js';
import { fontOf, linesIn } from '../core/layout.js';
import type { Width } from '../core/paragraph.js';
import { fillOf, parseGradient } from './gradient.js';
import { type Images, type Picture, fitted } from './images.js';

const P = PROPERTIES;
const BOLD = 600;

/** Order of the parts in a view. */
const LAYERS = ['background', 'gradient', 'picture', 'border', 'text'] as const;
type Layer = (typeof LAYERS)[number];

export interface Drawing {
  readonly images: Images;
  readonly widthOf: Width;
  /** Device pixels to a pixel of the surface. */
  readonly resolution: number;
  /** Asks for the box to be drawn again. */
  repaint(box: Box): void;
  /** Notes that a picture is there (1) or has failed (2). */
  image(box: Box, state: 1 | 2): void;
}

export class View {
  readonly outer = new Container();
  readonly #box: Box;
  readonly #drawing: Drawing;
  readonly #parts = new Map<Layer, Container>();
  /** Values that each part was drawn from: it is drawn again only when that changes. */
  readonly #drawn = new Map<Layer | 'clip', string>();
  #inner: Container | null = null;
  #mask: Graphics | null = null;
  #filter: AlphaFilter | null = null;
  #fill: FillGradient | null = null;
  #picture: { readonly entry: Picture; readonly changed: () => void; state: number } | null = null;

  constructor(box: Box, drawing: Drawing) {
    this.#box = box;
    this.#drawing = drawing;
    this.outer.eventMode = 'none';
  }

  /** Brings the view to the box's values and place. */
  update(): void {
    const box = this.#box;
    const opacity = Math.min(Math.max(box.number(P.opacity.code), 0), 1);
    this.outer.visible = !box.isHidden && opacity > 0;
    // An image is loaded even while it cannot be seen.
    this.#load();
    if (!this.outer.visible || Number.isNaN(box.width)) return;
    const { width, height, parent } = box;
    this.outer.pivot.set(width / 2, height / 2);
    this.outer.position.set(
      box.x - (parent?.x ?? 0) + box.number(P.x.code) + width / 2,
      box.y - (parent?.y ?? 0) + box.number(P.y.code) + height / 2,
    );
    this.outer.scale.set(box.number(P.scale.code));
    this.outer.angle = box.number(P.rotate.code);
    const radius = Math.max(Math.min(box.number(P.borderRadius.code), width / 2, height / 2), 0);
    this.#background(radius);
    this.#gradient(radius);
    this.#image(radius);
    this.#border(radius);
    this.#text();
    this.#clip(radius);
    this.#fade(opacity);
  }

  /** Puts the children's views in the order of the box's children, higher ones later. */
  order(viewOf: (box: Box) => View): void {
    const { children } = this.#box;
    if (children.length > 0 && this.#inner === null) {
      this.#inner = new Container();
      this.outer.addChild(this.#inner);
    }
    const zIndex = P.zIndex.code;
    const sorted = children.some((child) => child.shown.has(zIndex))
      ? children.toSorted((one, other) => one.number(zIndex) - other.number(zIndex))
      : children;
    this.#inner?.removeChildren();
    for (const child of sorted) this.#inner?.addChild(viewOf(child).outer);
  }

  destroy(): void {
    this.#release();
    this.#filter?.destroy();
    this.#fill?.destroy();
    for (const part of this.#parts.values()) destroyPart(part);
    this.#mask?.destroy();
    this.#inner?.removeChildren();
    this.#inner?.destroy();
    this.outer.destroy();
  }

  #background(radius: number): void {
    const color = this.#box.number(P.background.code);
    const { width, height } = this.#box;
    if ((color & 0xff) === 0) return this.#drop('background');
    if (radius === 0) {
      const part = this.#part('background', () => new Sprite(Texture.WHITE), 'plain');
      part.setSize(width, height);
      return tint(part, color);
    }
    const part = this.#part(
      'background',
      () => new Graphics(),
      `${width} ${height} ${radius}`,
      (graphics) => graphics.clear().roundRect(0, 0, width, height, radius).fill(0xffffff),
    );
    tint(part, color);
  }

  #gradient(radius: number): void {
    const source = this.#box.text(P.gradient.code);
    const gradient = source === '' ? undefined : parseGradient(source);
    if (gradient === undefined) return this.#drop('gradient');
    const old = this.#fill;
    const { width, height } = this.#box;
    this.#part(
      'gradient',
      () => new Graphics(),
      `${source} ${width} ${height} ${radius}`,
      (graphics) => {
        this.#fill = fillOf(gradient, width, height);
        shape(graphics.clear(), width, height, radius).fill(this.#fill);
      },
    );
    if (old !== this.#fill) old?.destroy();
  }

  #border(radius: number): void {
    const { width, height } = this.#box;
    const color = this.#box.number(P.borderColor.code);
    const line = Math.min(this.#box.number(P.borderWidth.code), width / 2, height / 2);
    if (line <= 0 || (color & 0xff) === 0) return this.#drop('border');
    const part = this.#part(
      'border',
      () => new Graphics(),
      `${width} ${height} ${radius} ${line}`,
      (graphics) => {
        graphics.clear();
        const inside = Math.max(radius - line / 2, 0);
        if (radius === 0) graphics.rect(line / 2, line / 2, width - line, height - line);
        else graphics.roundRect(line / 2, line / 2, width - line, height - line, inside);
        graphics.stroke({
          width: line,
          color: 0xffffff,
          alignment: 0.5,
          join: radius > 0 ? 'round' : 'miter',
        });
      },
    );
    tint(part, color);
  }

  #load(): void {
    const box = this.#box;
    const address = box.text(P.image.code);
    if (address === (this.#picture?.entry.address ?? '')) return this.#tellImage();
    this.#release();
    if (address === '') return;
    const changed = (): void => this.#drawing.repaint(box);
    this.#picture = { entry: this.#drawing.images.take(address, changed), changed, state: 0 };
    this.#tellImage();
  }

  #tellImage(): void {
    const picture = this.#picture;
    if (picture === null) return;
    const { texture, hasFailed } = picture.entry;
    const state = texture !== undefined ? 1 : hasFailed ? 2 : 0;
    if (state === picture.state || state === 0) return;
    picture.state = state;
    if (this.#box.reports) this.#drawing.image(this.#box, state);
  }

  #image(radius: number): void {
    const texture = this.#picture?.entry.texture;
    if (texture === undefined) return this.#drop('picture');
    const { width, height } = this.#box;
    const fit = this.#box.number(P.fit.code);
    const { part, place } = fitted(fit, texture, width, height);
    const from = `${this.#picture?.entry.address} ${fit} ${width} ${height} ${radius}`;
    if (radius === 0) {
      const frame = new Rectangle(part.x, part.y, part.width, part.height);
      this.#part(
        'picture',
        () => new Sprite(),
        `plain ${from}`,
        (sprite) => {
          if (sprite.texture !== Texture.EMPTY) sprite.texture.destroy(false);
          sprite.texture = new Texture({ source: texture.source, frame });
          sprite.position.set(place.x, place.y);
          sprite.setSize(place.width, place.height);
        },
      );
      return;
    }
    const scale = place.width / part.width;
    const matrix = new Matrix(
      scale,
      0,
      0,
      place.height / part.height,
      place.x - part.x * scale,
      place.y - (part.y * place.height) / part.height,
    );
    const fill = { texture, matrix, textureSpace: 'global' } as const;
    this.#part(
      'picture',
      () => new Graphics(),
      from,
      (graphics) => {
        graphics.clear();
        // A contained picture ends at its own edges; where it reaches the corners it has their radius.
        const isWhole = place.width >= width && place.height >= height;
        if (isWhole) graphics.roundRect(0, 0, width, height, radius);
        else graphics.rect(place.x, place.y, place.width, place.height);
        // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type -- it is no array
        graphics.fill(fill);
      },
    );
  }

  #text(): void {
    const box = this.#box;
    const color = box.number(P.color.code);
    if (!box.isMeasured || (color & 0xff) === 0) return this.#drop('text');
    const { node, width } = box;
    const left = node.getComputedPadding(0) + node.getComputedBorder(0);
    const top = node.getComputedPadding(1) + node.getComputedBorder(1);
    const inside = width - left - node.getComputedPadding(2) - node.getComputedBorder(2);
    const font = fontOf(box);
    const lines = linesIn(box, inside + 0.5, this.#drawing.widthOf);
    const align = (['left', 'center', 'right'] as const)[box.number(P.textAlign.code)] ?? 'left';
    const from = `${inside} ${font.size} ${font.weight} ${font.family} ${font.line_px} ${align}\n${lines.join('\n')}`;
    const part = this.#part(
      'text',
      () => new Text({ resolution: this.#drawing.resolution }),
      from,
      (text) => {
        text.style = {
          fontFamily: font.family,
          fontSize: font.size,
          fontWeight: font.weight >= BOLD ? 'bold' : 'normal',
          lineHeight: font.line_px,
          fill: 0xffffff,
          align,
        };
        text.text = lines.join('\n');
        const free = inside - text.width;
        text.position.set(left + (align === 'left' ? 0 : align === 'center' ? free / 2 : free), top);
      },
    );
    tint(part, color);
  }

  #clip(radius: number): void {
    const clips = this.#box.number(P.clip.code) === 1 && this.#inner !== null;
    if (!clips) {
      if (this.#mask === null) return;
      if (this.#inner !== null) this.#inner.mask = null;
      this.#mask.destroy();
      this.#mask = null;
      this.#drawn.delete('clip');
      return;
    }
    const { width, height } = this.#box;
    const from = `${width} ${height} ${radius}`;
    this.#mask ??= this.outer.addChild(new Graphics());
    if (this.#drawn.get('clip') === from) return;
    this.#drawn.set('clip', from);
    shape(this.#mask.clear(), width, height, radius).fill(0xffffff);
    if (this.#inner !== null) this.#inner.mask = this.#mask;
  }

  /** A single part fades by itself; more than one fade as one picture, by a filter. */
  #fade(opacity: number): void {
    const isGroup = opacity < 1 && this.#parts.size + this.#box.children.length > 1;
    this.outer.alpha = isGroup ? 1 : opacity;
    if (isGroup) {
      this.#filter ??= new AlphaFilter({ alpha: opacity, resolution: 'inherit', antialias: 'inherit' });
      this.#filter.alpha = opacity;
      if (!this.outer.filters?.includes(this.#filter)) this.outer.filters = [this.#filter];
    } else if (this.#filter !== null) {
      this.outer.filters = [];
      this.#filter.destroy();
      this.#filter = null;
    }
  }

  /** The part of a layer, made where it is missing or of another kind, and drawn where what it is drawn from has changed. */
  #part<Part extends Container>(
    layer: Layer,
    make: () => Part,
    from: string,
    draw?: (part: Part) => unknown,
  ): Part {
    const wasPlain = this.#drawn.get(layer)?.startsWith('plain') === true;
    if (this.#parts.has(layer) && layer !== 'text' && wasPlain !== from.startsWith('plain'))
      this.#drop(layer);
    let part = this.#parts.get(layer) as Part | undefined;
    if (part === undefined) {
      part = make();
      this.#parts.set(layer, part);
      const below = LAYERS.slice(0, LAYERS.indexOf(layer)).filter((each) => this.#parts.has(each));
      this.outer.addChildAt(part, below.length);
    }
    if (this.#drawn.get(layer) !== from) {
      this.#drawn.set(layer, from);
      draw?.(part);
    }
    return part;
  }

  #drop(layer: Layer): void {
    const part = this.#parts.get(layer);
    if (part === undefined) return;
    this.#parts.delete(layer);
    this.#drawn.delete(layer);
    destroyPart(part);
  }

  #release(): void {
    if (this.#picture === null) return;
    this.#drawing.images.give(this.#picture.entry, this.#picture.changed);
    this.#picture = null;
    this.#drop('picture');
  }
}

function destroyPart(part: Container): void {
  // A sprite's texture is a frame of a shared source, or the one white pixel.
  if (part instanceof Sprite && part.texture !== Texture.WHITE && part.texture !== Texture.EMPTY)
    part.texture.destroy(false);
  part.destroy();
}

const shape = (graphics: Graphics, width: number, height: number, radius: number): Graphics =>
  radius === 0 ? graphics.rect(0, 0, width, height) : graphics.roundRect(0, 0, width, height, radius);

function tint(part: Container, color: number): void {
  // PixiJS parses each colour that it is given.
  if (part.tint !== color >>> 8) part.tint = color >>> 8;
  part.alpha = (color & 0xff) / 255;
}
