/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Commands: the encoder of a root's batches. Words and strings are used again from batch to batch. */
import { COMMAND, type PropertyFacts } from '../stream/codes.js';
import { parseColor } from './colors.js';
import { choiceOf, easingOf, facts, wrong } from './facts.js';
import type { Animation, Style, Transition } from './props.js';
import type { Styles } from './styles.js';

const WORDS = 1_024;
const FOREVER = 0xffff;
const ALTERNATE = 0x10000;

export class Commands {
  words = new Int32Array(WORDS);
  private floats = new Float32Array(this.words.buffer);
  length = 0;
  readonly strings: string[] = [];
  /** Shared styles of the root. */
  styles: Styles | null = null;
  /** Whether entries of a shared style are written, which have no `id`. */
  private defining = false;

  clear(): void {
    this.length = 0;
    this.strings.length = 0;
  }

  private grow(length: number): void {
    const words = new Int32Array(Math.max(length, this.words.length * 2));
    words.set(this.words);
    this.words = words;
    this.floats = new Float32Array(words.buffer);
  }

  /** Takes words at the end; returns where they begin. */
  private room(more: number): number {
    const at = this.length;
    this.length = at + more;
    if (this.length > this.words.length) this.grow(this.length);
    return at;
  }

  /** Writes a command's first word, and `id` if it has one; returns where the rest goes. */
  private head(command: number, code: number, id: number, more: number): number {
    const at = this.length;
    const end = at + 2 + more;
    if (end > this.words.length) this.grow(end);
    this.words[at] = command | (code << 8);
    if (this.defining) {
      this.length = end - 1;
      return at + 1;
    }
    this.words[at + 1] = id;
    this.length = end;
    return at + 2;
  }

  create(id: number): void {
    this.head(COMMAND.CREATE, 0, id, 0);
  }

  place(parent: number, id: number, before: number): void {
    const at = this.room(4);
    const { words } = this;
    words[at] = COMMAND.PLACE;
    words[at + 1] = parent;
    words[at + 2] = id;
    words[at + 3] = before;
  }

  remove(id: number): void {
    this.head(COMMAND.REMOVE, 0, id, 0);
  }

  focus(id: number): void {
    this.head(COMMAND.FOCUS, 0, id, 0);
  }

  /** Pixels or a plain number. */
  number(id: number, code: number, value: number): void {
    const at = this.head(COMMAND.NUMBER, code, id, 1);
    this.floats[at] = value;
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
    const number = style === undefined || style === null ? 0 : this.styles!.numberOf(style, this);
    const at = this.head(command, 0, id, 1);
    this.words[at] = number;
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
    const property = facts[name];
    if (property === undefined) {
      wrong(name, value);
      return;
    }
    if (value === undefined || value === null) this.reset(id, property.code);
    else if (!this.value(id, property, value)) wrong(name, value);
  }

  private value(id: number, property: PropertyFacts, value: unknown): boolean {
    const { code, type } = property;
    switch (type) {
      case 'length':
      case 'number':
        if (typeof value === 'number') {
          if (!Number.isFinite(value)) return false;
          this.number(id, code, value);
          return true;
        }
        if (type === 'number' || typeof value !== 'string' || !/^-?[\d.]+%$/.test(value)) return false;
        this.percent(id, code, Number.parseFloat(value));
        return true;
      case 'integer':
        if (!Number.isInteger(value)) return false;
        this.integer(id, code, value as number);
        return true;
      case 'color': {
        const color = typeof value === 'string' ? parseColor(value) : null;
        if (color === null) return false;
        this.integer(id, code, color);
        return true;
      }
      case 'choice': {
        const choice = choiceOf(property, value);
        if (choice === undefined) return false;
        this.integer(id, code, choice);
        return true;
      }
      case 'flag':
        if (typeof value !== 'boolean') return false;
        this.integer(id, code, value ? 1 : 0);
        return true;
      case 'text':
        if (typeof value !== 'string') return false;
        this.string(id, code, value);
        return true;
    }
  }

  /** How a property changes; undefined: at once. */
  transition(id: number, name: string, value: number | Transition | undefined): void {
    const property = facts[name];
    if (property === undefined || !property.animates) {
      wrong(name, value);
      return;
    }
    const {
      duration,
      delay = 0,
      easing,
    }: Transition = typeof value === 'object' ? value : { duration: value ?? 0 };
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
    if (animation === undefined || animation === null) {
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
