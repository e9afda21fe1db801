// Picture of a screen: its widgets with all that commands have said about them. Values stay as the stream has them, so that equal ones compare as words.
import { COMMAND } from '../stream/codes.js';

/** Value of a property: the command that carries it, and its word or text. */
export interface Value {
  readonly command: number;
  readonly word: number;
  readonly text: string;
}

/** Words of a transition or animation after its widget. */
export type Motion = readonly number[];

/** Values and transitions of a shared style, or of a widget by itself. Keys are codes of properties. */
export class Look {
  readonly values = new Map<number, Value>();
  readonly transitions = new Map<number, Motion>();
}

export class Part extends Look {
  /** Number of the widget; 0 for the root. */
  id: number;
  parent: Part | null = null;
  readonly children: Part[] = [];
  readonly animations = new Map<number, Motion>();
  /** Numbers of shared styles, 0 for none. */
  style = 0;
  focusStyle = 0;

  constructor(id: number) {
    super();
    this.id = id;
  }
}

/** Bits of -0 as a float. */
const NEGATIVE_ZERO = 0x80000000 | 0;

export class Picture {
  readonly root = new Part(0);
  readonly parts = new Map<number, Part>();
  readonly styles = new Map<number, Look>();
  /** Number of the widget with the focus, 0 for none. */
  focus = 0;

  /**
   * Applies a batch.
   *
   * @throws {RangeError} for a command that is unknown, or a number of no widget.
   */
  apply(words: Int32Array, length: number, strings: readonly string[]): void {
    for (let at = 0; at < length;) at = this.#command(words, strings, at);
  }

  part(id: number): Part {
    const part = id === 0 ? this.root : this.parts.get(id);
    if (part === undefined) throw new RangeError(`there is no widget ${id}`);
    return part;
  }

  /** A new widget, outside the tree. */
  create(id: number): Part {
    const part = new Part(id);
    this.parts.set(id, part);
    return part;
  }

  #command(words: Int32Array, strings: readonly string[], at: number): number {
    const word = (offset: number): number => words[at + offset] ?? 0;
    const code = word(0) & 0xff;
    const property = (word(0) >>> 8) & 0xff;
    if (code === COMMAND.DEFINE) return this.#define(words, strings, at);
    if (code === COMMAND.FOCUS) {
      this.focus = word(1);
      return at + 2;
    }
    if (code === COMMAND.CREATE) {
      this.create(word(1));
      return at + 2;
    }
    if (code === COMMAND.PLACE) {
      place(this.part(word(1)), this.part(word(2)), word(3));
      return at + 4;
    }
    const part = this.part(word(1));
    switch (code) {
      case COMMAND.REMOVE:
        unlink(part);
        this.#forget(part);
        return at + 2;
      case COMMAND.STYLE:
        part.style = word(2);
        return at + 3;
      case COMMAND.FOCUS_STYLE:
        part.focusStyle = word(2);
        return at + 3;
      case COMMAND.RESET:
        part.values.delete(property);
        return at + 2;
      case COMMAND.STOP:
        part.animations.delete(property);
        return at + 2;
      case COMMAND.ANIMATE:
        part.animations.set(property, Array.from(words.subarray(at + 2, at + 8)));
        return at + 8;
      default:
        return value(part, code, property, words, strings, at + 2);
    }
  }

  #define(words: Int32Array, strings: readonly string[], at: number): number {
    const look = new Look();
    this.styles.set(words[at + 1] ?? 0, look);
    const end = at + 3 + (words[at + 2] ?? 0);
    for (let entry = at + 3; entry < end;) {
      const word = words[entry] ?? 0;
      entry = value(look, word & 0xff, (word >>> 8) & 0xff, words, strings, entry + 1);
    }
    return end;
  }

  #forget(part: Part): void {
    this.parts.delete(part.id);
    if (this.focus === part.id) this.focus = 0;
    for (const child of part.children) this.#forget(child);
  }
}

/** Takes a value or transition whose words begin at `at`, and returns the word after it. */
function value(
  look: Look,
  command: number,
  property: number,
  words: Int32Array,
  strings: readonly string[],
  at: number,
): number {
  const word = words[at] ?? 0;
  switch (command) {
    case COMMAND.NUMBER:
      // JSON has no negative zero.
      look.values.set(property, { command, word: word === NEGATIVE_ZERO ? 0 : word, text: '' });
      return at + 1;
    case COMMAND.PERCENT:
    case COMMAND.INTEGER:
      look.values.set(property, { command, word, text: '' });
      return at + 1;
    case COMMAND.STRING:
      look.values.set(property, { command, word: 0, text: strings[word] ?? '' });
      return at + 1;
    case COMMAND.TRANSITION:
      look.transitions.set(property, Array.from(words.subarray(at, at + 3)));
      return at + 3;
    default:
      throw new RangeError(`command ${command} is unknown`);
  }
}

function place(parent: Part, part: Part, before: number): void {
  unlink(part);
  part.parent = parent;
  const at = before === 0 ? -1 : parent.children.findIndex(({ id }) => id === before);
  if (at === -1) parent.children.push(part);
  else parent.children.splice(at, 0, part);
}

function unlink(part: Part): void {
  const siblings = part.parent?.children ?? [];
  const at = siblings.indexOf(part);
  if (at !== -1) siblings.splice(at, 1);
  part.parent = null;
}

export const isSameValue = (one: Value | undefined, other: Value | undefined): boolean =>
  one === other ||
  (one !== undefined &&
    other !== undefined &&
    one.command === other.command &&
    one.word === other.word &&
    one.text === other.text);

export const isSameMotion = (one: Motion | undefined, other: Motion | undefined): boolean =>
  one === other ||
  (one !== undefined &&
    other !== undefined &&
    one.length === other.length &&
    one.every((word, at) => word === other[at]));

/** Whether two styles say the same, in whatever order. */
export function isSameLook(one: Look, other: Look): boolean {
  if (one.values.size !== other.values.size || one.transitions.size !== other.transitions.size) return false;
  for (const [property, each] of one.values) if (!isSameValue(each, other.values.get(property))) return false;
  for (const [property, each] of one.transitions)
    if (!isSameMotion(each, other.transitions.get(property))) return false;
  return true;
}
