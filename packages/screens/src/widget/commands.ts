/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Commands: the encoder of a root's batches. Words and strings are used again from batch to batch. */
import { COMMAND } from '../stream/codes.js';
import { parseColor } from './colors.js';
import {
  CHOICE,
  COLOR,
  FLAG,
  LENGTH,
  SHORTHAND,
  TEXT,
  easingOf,
  entries,
  facts,
  wrong,
  type Entry,
} from './facts.js';
import { INNER, type WidgetNode } from './node.js';
import type { Animation, Style, Transition } from './props.js';
import { isStyle, writeStyle, type Styles } from './styles.js';

const WORDS = 4_096;
const FOREVER = 0xffff;
const ALTERNATE = 0x10000;

export class Commands {
  words = new Int32Array(WORDS);
  private floats = new Float32Array(this.words.buffer);
  length = 0;
  readonly strings: string[] = [];
  /** Shared styles of the root. */
  styles: Styles | null = null;
  /** Widgets of the root by number, and numbers to use again. */
  readonly widgets: (WidgetNode | undefined)[];
  readonly free: number[];
  /** Whether entries of a shared style are written, which have no `id`. */
  private defining = false;

  constructor(widgets: (WidgetNode | undefined)[], free: number[]) {
    this.widgets = widgets;
    this.free = free;
  }

  clear(): void {
    this.length = 0;
    this.strings.length = 0;
    this.defining = false;
  }

  private room(more: number): number {
    const at = this.length;
    if (at + more > this.words.length) this.grow(more);
    this.length = at + more;
    return at;
  }

  private grow(more: number): void {
    const words = new Int32Array(Math.max(this.length + more, this.words.length * 2));
    words.set(this.words);
    this.words = words;
    this.floats = new Float32Array(words.buffer);
  }

  /** Writes a command's first word, and `id` if it has one; returns where the rest goes. */
  private head(command: number, code: number, id: number, more: number): number {
    if (this.defining) {
      const at = this.room(1 + more);
      this.words[at] = command | (code << 8);
      return at + 1;
    }
    const at = this.room(2 + more);
    this.words[at] = command | (code << 8);
    this.words[at + 1] = id;
    return at + 2;
  }

  /** A command of two words. */
  two(command: number, id: number): void {
    const at = this.length;
    if (at + 2 > this.words.length) this.grow(2);
    const { words } = this;
    words[at] = command;
    words[at + 1] = id;
    this.length = at + 2;
  }

  /** A command of three words. */
  three(command: number, id: number, value: number): void {
    const at = this.length;
    if (at + 3 > this.words.length) this.grow(3);
    const { words } = this;
    words[at] = command;
    words[at + 1] = id;
    words[at + 2] = value;
    this.length = at + 3;
  }

  place(parent: number, id: number, before: number): void {
    const at = this.length;
    if (at + 4 > this.words.length) this.grow(4);
    const { words } = this;
    words[at] = COMMAND.PLACE;
    words[at + 1] = parent;
    words[at + 2] = id;
    words[at + 3] = before;
    this.length = at + 4;
  }

  /**
   * Creates a widget of a block below the widget `parent`, behind its other children; returns its number.
   *
   * @param style Constant.
   * @param code Property that is a string (0 for none), and its value.
   */
  leaf(parent: number, style: Style | undefined, code: number, value: unknown): number {
    const { free, widgets } = this;
    const id = free.length > 0 ? free.pop()! : widgets.length;
    widgets[id] = INNER;
    const shared = style === undefined ? 0 : this.styles!.find(style, this);
    let at = this.length;
    if (at + 12 > this.words.length) this.grow(12);
    const { words } = this;
    words[at] = COMMAND.CREATE;
    words[at + 1] = id;
    words[at + 2] = COMMAND.PLACE;
    words[at + 3] = parent;
    words[at + 4] = id;
    words[at + 5] = 0;
    at += 6;
    if (shared !== 0) {
      words[at] = COMMAND.STYLE;
      words[at + 1] = id;
      words[at + 2] = shared;
      at += 3;
    }
    if (code !== 0 && typeof value === 'string') {
      const { strings } = this;
      words[at] = COMMAND.STRING | (code << 8);
      words[at + 1] = id;
      words[at + 2] = strings.length;
      strings[strings.length] = value;
      at += 3;
    }
    this.length = at;
    if (shared === 0 && style !== undefined) writeStyle(id, style, this);
    if (code !== 0 && value !== undefined && value !== null && typeof value !== 'string')
      wrong(code === facts['text']!.code ? 'text' : 'image', value);
    return id;
  }

  remove(id: number): void {
    this.two(COMMAND.REMOVE, id);
  }

  focus(id: number): void {
    this.two(COMMAND.FOCUS, id);
  }

  /** Pixels or a plain number. */
  number(id: number, code: number, value: number): void {
    const at = this.room(3);
    const { words } = this;
    words[at] = COMMAND.NUMBER | (code << 8);
    words[at + 1] = id;
    this.floats[at + 2] = value;
  }

  /** Percent of the parent, 50 for one half. */
  percent(id: number, code: number, value: number): void {
    const at = this.head(COMMAND.PERCENT, code, id, 1);
    this.floats[at] = value;
  }

  /** A colour, the number of a choice, or a flag. */
  integer(id: number, code: number, value: number): void {
    const at = this.head(COMMAND.INTEGER, code, id, 1);
    this.words[at] = value;
  }

  string(id: number, code: number, value: string): void {
    const at = this.head(COMMAND.STRING, code, id, 1);
    this.words[at] = this.strings.push(value) - 1;
  }

  /** A string of a widget, not of a shared style. */
  text(id: number, code: number, value: string): void {
    const at = this.length;
    if (at + 3 > this.words.length) this.grow(3);
    const { words, strings } = this;
    words[at] = COMMAND.STRING | (code << 8);
    words[at + 1] = id;
    words[at + 2] = strings.length;
    strings[strings.length] = value;
    this.length = at + 3;
  }

  reset(id: number, code: number): void {
    if (!this.defining) this.head(COMMAND.RESET, code, id, 0);
  }

  /** Shared style of a widget. */
  style(id: number, style: Style | undefined): void {
    this.shared(COMMAND.STYLE, id, style);
  }

  /** Shared style of a widget while it has the focus. */
  focusStyle(id: number, style: Style | undefined): void {
    this.shared(COMMAND.FOCUS_STYLE, id, style);
  }

  private shared(command: number, id: number, style: Style | undefined): void {
    this.three(command, id, isStyle(style) ? this.styles!.numberOf(style, this) : 0);
  }

  /** Defines a shared style; `write` writes its entries. */
  define(style: number, write: () => void): void {
    const at = this.room(3);
    this.words[at] = COMMAND.DEFINE;
    this.words[at + 1] = style;
    this.defining = true;
    write();
    this.defining = false;
    this.words[at + 2] = this.length - at - 3;
  }

  /** A property's value as the app gives it; undefined resets it, a wrong one is reported and ignored. */
  property(id: number, name: string, value: unknown): void {
    const entry = entries[name];
    if (entry === undefined || entry.kind >= SHORTHAND) wrong(name, value);
    else if (value === undefined || value === null) this.reset(id, entry.code);
    else if (!this.set(id, entry, value)) wrong(name, value);
  }

  /** Writes a value, the way most words of a batch come about; false if it is a wrong one. */
  set(id: number, entry: Entry, value: unknown): boolean {
    const { kind } = entry;
    let first: number;
    let word = 0;
    if (kind <= LENGTH) {
      if (typeof value !== 'number') return this.setPercent(id, entry, value);
      if (value - value !== 0) return false;
      first = entry.number;
    } else {
      first = entry.integer;
      if (kind === COLOR) {
        const color = typeof value === 'string' ? parseColor(value) : null;
        if (color === null) return false;
        word = color;
      } else if (kind === TEXT) {
        if (typeof value !== 'string') return false;
        first = entry.string;
        word = this.strings.length;
        this.strings[word] = value;
      } else if (kind === CHOICE) {
        const choice = typeof value === 'string' ? entry.choices![value] : undefined;
        if (choice === undefined) return false;
        word = choice;
      } else if (kind === FLAG) {
        if (typeof value !== 'boolean') return false;
        word = value ? 1 : 0;
      } else {
        if (!Number.isInteger(value)) return false;
        word = value as number;
      }
    }
    let at = this.length;
    if (at + 3 > this.words.length) this.grow(3);
    const { words } = this;
    words[at++] = first;
    if (!this.defining) words[at++] = id;
    if (kind <= LENGTH) this.floats[at] = value as number;
    else words[at] = word;
    this.length = at + 1;
    return true;
  }

  private setPercent(id: number, entry: Entry, value: unknown): boolean {
    if (entry.kind !== LENGTH || typeof value !== 'string' || !/^-?[\d.]+%$/.test(value)) return false;
    this.percent(id, entry.code, Number.parseFloat(value));
    return true;
  }

  /** Transition of a property; undefined: it changes at once. */
  transition(id: number, name: string, value: number | Transition | null | undefined): void {
    const property = facts[name];
    if (property === undefined || !property.animates) {
      wrong(name, value);
      return;
    }
    const {
      duration,
      delay = 0,
      easing,
    }: Transition = typeof value === 'object' && value !== null ? value : { duration: value ?? 0 };
    const at = this.head(COMMAND.TRANSITION, property.code, id, 3);
    this.floats[at] = duration;
    this.floats[at + 1] = delay;
    this.words[at + 2] = easingOf(easing);
  }

  animate(id: number, name: string, animation: Animation | undefined): void {
    const property = facts[name];
    if (property === undefined || !property.animates || property.type === 'color') {
      wrong(name, animation);
      return;
    }
    if (typeof animation !== 'object' || animation === null) {
      this.head(COMMAND.STOP, property.code, id, 0);
      return;
    }
    const { from = NaN, to, duration, delay = 0, easing, repeat = 0, alternate } = animation;
    const at = this.head(COMMAND.ANIMATE, property.code, id, 6);
    this.floats[at] = from;
    this.floats[at + 1] = to;
    this.floats[at + 2] = duration;
    this.floats[at + 3] = delay;
    this.words[at + 4] = easingOf(easing);
    const runs = repeat >= FOREVER ? FOREVER : Math.max(0, Math.trunc(repeat));
    this.words[at + 5] = alternate === true ? runs | ALTERNATE : runs;
  }
}
