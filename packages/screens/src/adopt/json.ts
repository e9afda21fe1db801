// A screen as JSON, and the picture that it stands for. The picture takes from it what it knows, and nothing else: the text came over the network.
import {
  COMMAND,
  EASINGS,
  PROPERTIES,
  type PropertyFacts,
  type PropertyName,
  VERSION,
} from '../stream/codes.js';
import { Look, type Motion, type Part, Picture, type Value } from './picture.js';

export type ValueJson = number | string | boolean;

/** Duration and delay in milliseconds, and the name of the easing. */
export type TransitionJson = readonly [duration: number, delay: number, easing: string];

export interface AnimationJson {
  /** Absent: the value that the property has. */
  readonly from?: number;
  readonly to: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly delay?: number;
  readonly easing?: string;
  /** Further runs; 65535 without end. */
  readonly repeat?: number;
  readonly alternate?: boolean;
}

/** Values and transitions by names of properties, as apps write them. */
export interface LookJson {
  readonly values?: Readonly<Record<string, ValueJson>>;
  readonly transitions?: Readonly<Record<string, TransitionJson>>;
}

export interface WidgetJson extends LookJson {
  /** Place in `styles`, from 0. */
  readonly style?: number;
  readonly focusStyle?: number;
  readonly animations?: Readonly<Record<string, AnimationJson>>;
  readonly children?: readonly WidgetJson[];
}

/** A screen that a server has rendered. */
export interface ScreenJson {
  /** Version of the stream. */
  readonly version: number;
  /** Pixels that it was laid out for. */
  readonly width: number;
  readonly height: number;
  readonly styles: readonly LookJson[];
  readonly widgets: readonly WidgetJson[];
  /** Widget with the focus: its place in the tree, counted from 1 in the order of the text; 0 for none. */
  readonly focus: number;
  /** Values that it was made of, for the app's model. */
  readonly state?: unknown;
  /** Whether parts of it show their fallbacks, because what they need did not come in time. */
  readonly partial?: true;
}

/**
 * Picture of a screen. Properties and values that this version does not know are left out.
 *
 * @throws {TypeError} if it is no screen, or of another version of the stream.
 */
export function pictureOf(json: ScreenJson): Picture {
  const { version, styles, widgets, focus } = json;
  if (version !== VERSION)
    throw new TypeError(`the screen has version ${version} of the stream, not ${VERSION}`);
  if (!Array.isArray(styles) || !Array.isArray(widgets))
    throw new TypeError('a screen has styles and widgets');
  const picture = new Picture();
  styles.forEach((style: LookJson, at) => picture.styles.set(at + 1, read(style, new Look())));
  let last = 0;
  const add = (parent: Part, widget: WidgetJson): void => {
    last += 1;
    const part = read(widget, picture.create(last));
    part.parent = parent;
    parent.children.push(part);
    part.style = numberOf(widget.style, styles.length);
    part.focusStyle = numberOf(widget.focusStyle, styles.length);
    for (const [name, animation] of entriesOf(widget.animations)) {
      const facts = factsOf(name);
      const motion = facts?.animates === true ? animationOf(animation) : undefined;
      if (facts !== undefined && motion !== undefined) part.animations.set(facts.code, motion);
    }
    if (Array.isArray(widget.children)) for (const child of widget.children as WidgetJson[]) add(part, child);
  };
  for (const widget of widgets as WidgetJson[]) add(picture.root, widget);
  picture.focus = picture.parts.has(focus) ? focus : 0;
  return picture;
}

function read<Into extends Look>({ values, transitions }: LookJson, look: Into): Into {
  for (const [name, given] of entriesOf(values)) {
    const facts = factsOf(name);
    const value = facts && valueOf(facts, given);
    if (facts !== undefined && value !== undefined) look.values.set(facts.code, value);
  }
  for (const [name, given] of entriesOf(transitions)) {
    const facts = factsOf(name);
    if (facts?.animates !== true || !Array.isArray(given)) continue;
    const [duration, delay, easing] = given as unknown[];
    if (isTime(duration) && isTime(delay))
      look.transitions.set(facts.code, [bitsOf(duration), bitsOf(delay), easingOf(easing)]);
  }
  return look;
}

function entriesOf<Each>(record: Readonly<Record<string, Each>> | undefined): [string, Each][] {
  return typeof record === 'object' && record !== null ? Object.entries(record) : [];
}

/** Own names alone: `__proto__` and `constructor` are no properties. */
function factsOf(name: string): PropertyFacts | undefined {
  return Object.hasOwn(PROPERTIES, name) ? PROPERTIES[name as PropertyName] : undefined;
}

function valueOf({ type, values }: PropertyFacts, given: unknown): Value | undefined {
  const { NUMBER, PERCENT, INTEGER, STRING } = COMMAND;
  const of = (command: number, word: number, text = ''): Value => ({ command, word, text });
  switch (type) {
    case 'text':
      return typeof given === 'string' ? of(STRING, 0, given) : undefined;
    case 'flag':
      return typeof given === 'boolean' ? of(INTEGER, given ? 1 : 0) : undefined;
    case 'choice': {
      const at = values?.indexOf(String(given)) ?? -1;
      return at === -1 ? undefined : of(INTEGER, at);
    }
    case 'color':
      return typeof given === 'string' && /^#[\da-f]{8}$/.test(given)
        ? of(INTEGER, Number.parseInt(given.slice(1), 16) | 0)
        : undefined;
    case 'length':
    case 'number':
    case 'integer':
      if (typeof given === 'string' && type === 'length' && /^-?[\d.]+(?:e-?\d+)?%$/.test(given))
        return of(PERCENT, bitsOf(Number.parseFloat(given)));
      if (typeof given !== 'number' || !Number.isFinite(given)) return undefined;
      return type === 'integer' ? of(INTEGER, given | 0) : of(NUMBER, bitsOf(given));
  }
}

function animationOf(given: AnimationJson): Motion | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { from, to, duration, delay = 0, easing, repeat = 0, alternate } = given;
  const isFinite = typeof to === 'number' && (from === undefined || typeof from === 'number');
  if (!isFinite || !isTime(duration) || !isTime(delay)) return undefined;
  const repeats = (Math.min(Math.max(0, repeat | 0), 0xffff) | (alternate === true ? 1 << 16 : 0)) >>> 0;
  return [bitsOf(from ?? Number.NaN), bitsOf(to), bitsOf(duration), bitsOf(delay), easingOf(easing), repeats];
}

const isTime = (value: unknown): value is number => typeof value === 'number' && value >= 0;

function easingOf(name: unknown): number {
  return Math.max(0, (EASINGS as readonly unknown[]).indexOf(name));
}

function numberOf(place: number | undefined, count: number): number {
  return Number.isInteger(place) && Number(place) >= 0 && Number(place) < count ? Number(place) + 1 : 0;
}

const word = new Int32Array(1);
const float = new Float32Array(word.buffer);

/** Bits of a number as a float of 32 bits. */
export function bitsOf(value: number): number {
  float[0] = value;
  return word[0] ?? 0;
}

/** Number that the bits of a float stand for, with as few digits as tell it. */
export function numberOfBits(bits: number): number {
  word[0] = bits;
  const value = float[0] ?? 0;
  const short = Number(value.toPrecision(7));
  return Math.fround(short) === value ? short : value;
}
