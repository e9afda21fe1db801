// Judges a batch as a whole before anything of it is applied. It keeps no tree of its own: what the batch changes so far lies over what the surface has.
import { type Batch, LIMITS, utf8Length } from './batch.js';
import { COMMAND, EASINGS } from './codes.js';
import { StreamError } from './errors.js';
import { COMMAND_OF, IN_STYLES } from './facts.js';

/** State of a surface before the batch. */
export interface Known {
  /** Parent of a widget: 0 for the root, -1 outside the tree, undefined for a number without a widget. */
  parentOf(id: number): number | undefined;
  hasStyle(style: number): boolean;
  /** Levels of widgets below a widget, or more. */
  heightOf(id: number): number;
  /** The same, counted: no more than there are. */
  countHeight(id: number): number;
  /** Most levels of widgets that the surface can lay out. */
  readonly depthMax: number;
}

const OUTSIDE = -1;

/**
 * Checks a batch against the rules of the stream.
 *
 * @throws {StreamError} whose `at` is the word.
 */
export function checkBatch(batch: Batch, known: Known): void {
  const { words, length, strings } = batch;
  if (length > LIMITS.words) throw new StreamError(`batch has ${length} words, limit is ${LIMITS.words}`, 0);
  if (length < 0 || length > words.length)
    throw new StreamError(`batch of ${length} words in an array of ${words.length}`, 0);
  if (strings.length > LIMITS.strings)
    throw new StreamError(`batch has ${strings.length} strings, limit is ${LIMITS.strings}`, 0);
  for (const text of strings)
    if (text.length * 3 > LIMITS.stringBytes && utf8Length(text) > LIMITS.stringBytes)
      throw new StreamError(`a string is longer than ${LIMITS.stringBytes} bytes`, 0);
  new Check(batch, known).run();
}

class Check {
  readonly #words: Int32Array;
  readonly #length: number;
  readonly #strings: number;
  readonly #known: Known;
  /** Parents of widgets that the batch has created or placed so far. */
  readonly #parents = new Map<number, number>();
  /** Levels below widgets that the batch has raised. */
  readonly #heights = new Map<number, number>();
  readonly #gone = new Set<number>();
  readonly #styles = new Set<number>();

  constructor(batch: Batch, known: Known) {
    this.#words = batch.words;
    this.#length = batch.length;
    this.#strings = batch.strings.length;
    this.#known = known;
  }

  run(): void {
    let at = 0;
    while (at < this.#length) at = this.#command(at);
  }

  /** Checks the command and returns the word after it. */
  #command(at: number): number {
    const code = this.#code(at, this.#length);
    const words = COMMAND_OF[code]?.words ?? [];
    if (at + words.length >= this.#length)
      throw new StreamError(`word ${this.#length}: a word is missing`, at);
    const first = this.#word(at + 1);
    switch (code) {
      case COMMAND.CREATE:
        this.#create(first, at);
        break;
      case COMMAND.PLACE:
        this.#place(first, this.#word(at + 2), this.#word(at + 3), at);
        break;
      case COMMAND.REMOVE:
        this.#alive(first, at);
        this.#gone.add(first);
        break;
      case COMMAND.STYLE:
      case COMMAND.FOCUS_STYLE:
        this.#alive(first, at);
        this.#style(this.#word(at + 2), at);
        break;
      case COMMAND.DEFINE:
        return this.#define(first, this.#word(at + 2), at);
      case COMMAND.FOCUS:
        if (first !== 0) this.#alive(first, at);
        break;
      default:
        this.#alive(first, at);
        this.#values(code, at, at + 2);
    }
    return at + 1 + words.length;
  }

  #code(at: number, end: number): number {
    const word = this.#word(at);
    const code = word & 0xff;
    const command = COMMAND_OF[code];
    if (command === undefined || word >>> (command.property ? 16 : 8) !== 0)
      throw new StreamError(`word ${at}: command ${word >>> 0} is unknown`, at);
    if (at >= end) throw new StreamError(`word ${at}: a word is missing`, at);
    return code;
  }

  #word(at: number): number {
    return this.#words[at] as number;
  }

  /** Checks the words of a property's command that name strings and easings. */
  #values(code: number, at: number, first: number): void {
    if (code === COMMAND.STRING) {
      const index = this.#word(first);
      if (index < 0 || index >= this.#strings)
        throw new StreamError(`word ${at}: the batch has no string ${index}`, at);
    }
    if (code === COMMAND.TRANSITION) this.#easing(this.#word(first + 2), at);
    if (code === COMMAND.ANIMATE) this.#easing(this.#word(first + 4), at);
  }

  #easing(easing: number, at: number): void {
    if (easing < 0 || easing >= EASINGS.length)
      throw new StreamError(`word ${at}: easing ${easing} is unknown`, at);
  }

  #create(id: number, at: number): void {
    if (id <= 0) throw new StreamError(`word ${at}: ${id} is no number for a widget`, at);
    if (this.#parentOf(id) !== undefined) throw new StreamError(`word ${at}: there is a widget ${id}`, at);
    this.#parents.set(id, OUTSIDE);
  }

  #place(parent: number, id: number, before: number, at: number): void {
    if (parent !== 0) this.#alive(parent, at);
    this.#alive(id, at);
    if (before !== 0) {
      this.#alive(before, at);
      if (before === id || this.#parentOf(before) !== parent)
        throw new StreamError(`word ${at}: ${before} is no other child of ${parent}`, at);
    }
    let levels = 1 + this.#heightOf(id);
    for (let above = parent; above > 0; above = this.#parentOf(above) ?? OUTSIDE) {
      if (above === id) throw new StreamError(`word ${at}: widget ${id} would be inside itself`, at);
      levels += 1;
    }
    const { depthMax } = this.#known;
    // What was below it may be elsewhere by now.
    if (levels > depthMax && !this.#heights.has(id)) {
      const before = this.#known.heightOf(id);
      levels -= before - this.#known.countHeight(id);
    }
    if (levels > depthMax)
      throw new StreamError(`word ${at}: widgets are ${levels} levels deep, limit is ${depthMax}`, at);
    this.#parents.set(id, parent);
    let height = this.#heightOf(id) + 1;
    for (
      let above = parent;
      above > 0 && this.#heightOf(above) < height;
      above = this.#parentOf(above) ?? OUTSIDE
    ) {
      this.#heights.set(above, height);
      height += 1;
    }
  }

  #heightOf(id: number): number {
    return this.#heights.get(id) ?? this.#known.heightOf(id);
  }

  #style(style: number, at: number): void {
    if (style !== 0 && !this.#styles.has(style) && !this.#known.hasStyle(style))
      throw new StreamError(`word ${at}: there is no style ${style}`, at);
  }

  #define(style: number, length: number, at: number): number {
    if (style <= 0) throw new StreamError(`word ${at}: ${style} is no number for a style`, at);
    if (this.#styles.has(style) || this.#known.hasStyle(style))
      throw new StreamError(`word ${at}: style ${style} is defined already`, at);
    const start = at + 3;
    const end = start + length;
    if (length < 0 || end > this.#length) throw new StreamError(`word ${at}: a word is missing`, at);
    for (let entry = start; entry < end;) {
      const code = this.#code(entry, end);
      if (!IN_STYLES.has(code)) throw new StreamError(`word ${entry}: command ${code} in a style`, entry);
      const next = entry + (COMMAND_OF[code]?.words.length ?? 0);
      if (next > end) throw new StreamError(`word ${end}: a word is missing`, entry);
      this.#values(code, entry, entry + 1);
      entry = next;
    }
    this.#styles.add(style);
    return end;
  }

  #parentOf(id: number): number | undefined {
    return this.#parents.get(id) ?? this.#known.parentOf(id);
  }

  /** A widget is gone with the first one above it that has been removed: nothing gets below that one later, nor out. */
  #alive(id: number, at: number): void {
    let parent = this.#parentOf(id);
    if (parent === undefined || id <= 0) throw new StreamError(`word ${at}: there is no widget ${id}`, at);
    if (this.#gone.size === 0) return;
    for (let above = id; above > 0; above = parent, parent = this.#parentOf(above))
      if (parent === undefined || this.#gone.has(above))
        throw new StreamError(`word ${at}: widget ${id} has been removed`, at);
  }
}
