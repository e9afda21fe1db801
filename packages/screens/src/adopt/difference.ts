// What a surface has to be told so that it shows another picture. Widgets go on where place and kind agree.
import { COMMAND, PROPERTIES } from '../stream/codes.js';
import { isSameLook, isSameMotion, isSameValue, type Look, Part, type Picture } from './picture.js';
import { Writer } from './writer.js';

export interface Difference {
  readonly words: Int32Array;
  readonly length: number;
  readonly strings: readonly string[];
  /** Numbers at the surface of the widgets of the new picture, by those that it has itself. */
  readonly widgets: ReadonlyMap<number, number>;
  /** The same for shared styles. */
  readonly styles: ReadonlyMap<number, number>;
  /** Numbers from which on the surface has none. */
  readonly nextWidget: number;
  readonly nextStyle: number;
}

/** Commands that lead from one picture, which the surface shows, to another. */
export function difference(shown: Picture, wanted: Picture): Difference {
  return new Comparison(shown, wanted).run();
}

class Comparison {
  readonly #shown: Picture;
  readonly #wanted: Picture;
  readonly #writer = new Writer();
  readonly #widgets = new Map<number, number>();
  readonly #styles = new Map<number, number>();
  /** Numbers below the next one that no widget had before this batch, the lowest last. */
  readonly #free: number[] = [];
  #nextWidget: number;
  #nextStyle: number;

  constructor(shown: Picture, wanted: Picture) {
    this.#shown = shown;
    this.#wanted = wanted;
    this.#nextWidget = after(shown.parts.keys());
    this.#nextStyle = after(shown.styles.keys());
    for (let id = this.#nextWidget - 1; id > 0; id -= 1) if (!shown.parts.has(id)) this.#free.push(id);
  }

  run(): Difference {
    for (const [style, look] of this.#wanted.styles) this.#style(style, look);
    this.#children(this.#shown.root, this.#wanted.root, 0);
    const focus = this.#widgets.get(this.#wanted.focus) ?? 0;
    if (focus !== this.#shown.focus) this.#writer.write(COMMAND.FOCUS, focus);
    const { words, length, strings } = this.#writer;
    return {
      words,
      length,
      strings,
      widgets: this.#widgets,
      styles: this.#styles,
      nextWidget: this.#nextWidget,
      nextStyle: this.#nextStyle,
    };
  }

  #style(style: number, look: Look): void {
    const known = this.#alike(look);
    this.#styles.set(style, known === 0 ? this.#nextStyle : known);
    if (known !== 0) return;
    this.#writer.define(this.#nextStyle, look);
    this.#nextStyle += 1;
  }

  /** First style of what is shown that says the same as this one of it. */
  #known(style: number): number {
    const look = this.#shown.styles.get(style);
    return look === undefined ? 0 : this.#alike(look);
  }

  #alike(look: Look): number {
    for (const [known, other] of this.#shown.styles) if (isSameLook(look, other)) return known;
    return 0;
  }

  /** Children of one widget: those at the start and at the end that agree stay, others are made anew. */
  #children(shown: Part, wanted: Part, id: number): void {
    const [old, now] = [shown.children, wanted.children];
    const least = Math.min(old.length, now.length);
    let start = 0;
    while (start < least && isSameKind(old[start], now[start])) start += 1;
    let end = 0;
    while (end < least - start && isSameKind(old.at(-1 - end), now.at(-1 - end))) end += 1;
    for (const part of old.slice(start, old.length - end)) this.#writer.write(COMMAND.REMOVE, part.id);
    const kept = old[old.length - end]?.id ?? 0;
    for (const part of now.slice(start, now.length - end)) this.#create(part, id, kept);
    for (let at = 0; at < start; at += 1) this.#update(old[at] as Part, now[at] as Part);
    for (let at = end; at > 0; at -= 1) this.#update(old.at(-at) as Part, now.at(-at) as Part);
  }

  #create(part: Part, parent: number, before: number): void {
    const id = this.#free.pop() ?? this.#nextWidget;
    if (id === this.#nextWidget) this.#nextWidget += 1;
    this.#writer.write(COMMAND.CREATE, id);
    this.#update(new Part(id), part);
    this.#writer.write(COMMAND.PLACE, parent, id, before);
  }

  #update(shown: Part, wanted: Part): void {
    const { id } = shown;
    const writer = this.#writer;
    this.#widgets.set(wanted.id, id);
    const style = this.#styles.get(wanted.style) ?? 0;
    if (style !== this.#known(shown.style)) writer.write(COMMAND.STYLE, id, style);
    const focusStyle = this.#styles.get(wanted.focusStyle) ?? 0;
    if (focusStyle !== this.#known(shown.focusStyle)) writer.write(COMMAND.FOCUS_STYLE, id, focusStyle);
    // Transitions first: values that change below run by them.
    for (const [property, motion] of wanted.transitions)
      if (!isSameMotion(motion, shown.transitions.get(property)))
        writer.motion(COMMAND.TRANSITION, id, property, motion);
    for (const property of shown.transitions.keys())
      if (!wanted.transitions.has(property)) writer.motion(COMMAND.TRANSITION, id, property, [0, 0, 0]);
    for (const [property, value] of wanted.values)
      if (!isSameValue(value, shown.values.get(property))) writer.value(id, property, value);
    for (const property of shown.values.keys())
      if (!wanted.values.has(property)) writer.write(COMMAND.RESET | (property << 8), id);
    for (const [property, motion] of wanted.animations)
      if (!isSameMotion(motion, shown.animations.get(property)))
        writer.motion(COMMAND.ANIMATE, id, property, motion);
    for (const property of shown.animations.keys())
      if (!wanted.animations.has(property)) writer.write(COMMAND.STOP | (property << 8), id);
    this.#children(shown, wanted, id);
  }
}

/** Kinds of widgets: one with a text has no children, one with a picture shows another one late. */
function isSameKind(one: Part | undefined, other: Part | undefined): boolean {
  return (
    one !== undefined &&
    other !== undefined &&
    one.values.has(PROPERTIES.text.code) === other.values.has(PROPERTIES.text.code) &&
    one.values.has(PROPERTIES.image.code) === other.values.has(PROPERTIES.image.code)
  );
}

function after(numbers: Iterable<number>): number {
  let next = 1;
  for (const number of numbers) if (number >= next) next = number + 1;
  return next;
}
