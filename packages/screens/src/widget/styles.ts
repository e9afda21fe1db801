/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Styles: shared ones, known to the surface by number, and the comparison of own ones. */
import type { Commands } from './commands.js';
import { SHORTHAND, SHORTHANDS, SHORTHAND_NAMES, entries, facts, wrong } from './facts.js';
import type { Style, WidgetProps } from './props.js';

const LIMIT = 4_096;
// oxlint-disable-next-line typescript/no-explicit-any -- values of any property
type Values = Record<string, any>;

/** Shared styles of a root, by the identity of their objects. */
export class Styles {
  private readonly numbers = new Map<Style, number>();
  private next = 1;

  /** Whether a style is known, or can become known. */
  takes(style: Style): boolean {
    return this.numbers.size < LIMIT || this.numbers.has(style);
  }

  /** Number of a style; 0 if it is not known and cannot become known. */
  find(style: Style, out: Commands): number {
    const known = this.numbers.get(style);
    if (known !== undefined) return known;
    return this.numbers.size < LIMIT ? this.numberOf(style, out) : 0;
  }

  /** Number of a style; the surface gets its definition if it does not have it. */
  numberOf(style: Style, out: Commands): number {
    const known = this.numbers.get(style);
    if (known !== undefined) return known;
    const number = this.next++;
    if (this.numbers.size < LIMIT) this.numbers.set(style, number);
    out.define(number, () => writeStyle(0, style, out));
    return number;
  }

  /** Gives styles the numbers by which the surface knows them; `next` is the first that it has not. */
  renumber(numbers: ReadonlyMap<number, number>, next: number): void {
    for (const [style, number] of this.numbers) this.numbers.set(style, numbers.get(number) ?? number);
    this.next = next;
  }
}

function hasShorthand(style: Values): boolean {
  for (const name of SHORTHAND_NAMES) if (style[name] !== undefined) return true;
  return false;
}

/** A style without shorthands: the more specific name wins. */
function expand(style: Values): Values {
  if (!hasShorthand(style)) return style;
  const values: Values = {};
  for (const shorthand of SHORTHAND_NAMES)
    if (style[shorthand] !== undefined)
      for (const name of SHORTHANDS[shorthand]!) values[name] = style[shorthand];
  for (const name in style)
    if (SHORTHANDS[name] === undefined && style[name] !== undefined) values[name] = style[name];
  return values;
}

/** Writes all of a style. */
export function writeStyle(id: number, style: Style, out: Commands): void {
  const values = style as Values;
  const { length } = out;
  const strings = out.strings.length;
  for (const name in values) {
    const value = values[name] as unknown;
    if (value === undefined || value === null) continue;
    const entry = entries[name];
    if (entry === undefined) wrong(name, value);
    else if (entry.kind < SHORTHAND) {
      if (!out.set(id, entry, value)) wrong(name, value);
    } else {
      // Which of two names wins does not follow from their order.
      out.length = length;
      out.strings.length = strings;
      writeExpanded(id, values, out);
      return;
    }
  }
}

function writeExpanded(id: number, style: Values, out: Commands): void {
  const values = expand(style);
  for (const name in values) {
    if (name === 'transition') writeTransitions(id, undefined, values[name], out);
    else if (values[name] !== undefined) out.property(id, name, values[name]);
  }
}

/** Writes in what two styles differ. */
export function writeDifference(
  id: number,
  before: Style | undefined,
  now: Style | undefined,
  out: Commands,
): void {
  if (before === undefined) {
    if (now !== undefined) writeStyle(id, now, out);
    return;
  }
  const old = before as Values;
  const values = (now ?? {}) as Values;
  for (const name in values) {
    if (facts[name] === undefined) {
      writeWhole(id, old, values, out);
      return;
    }
    const value = values[name] as unknown;
    if (value !== old[name]) out.property(id, name, value);
  }
  for (const name in old) {
    if (facts[name] === undefined) {
      writeWhole(id, old, values, out);
      return;
    }
    if (!(name in values) && old[name] !== undefined) out.property(id, name, undefined);
  }
}

/** The same for styles with shorthands or transitions. */
function writeWhole(id: number, before: Values, now: Values, out: Commands): void {
  const old = expand(before);
  const values = expand(now);
  for (const name in values) {
    const value = values[name] as unknown;
    if (value === old[name]) continue;
    if (name === 'transition') writeTransitions(id, old[name], values[name], out);
    else out.property(id, name, value);
  }
  for (const name in old) {
    if (name in values || old[name] === undefined) continue;
    if (name === 'transition') writeTransitions(id, old[name], undefined, out);
    else out.property(id, name, undefined);
  }
}

function writeTransitions(
  id: number,
  before: Values | undefined,
  now: Values | undefined,
  out: Commands,
): void {
  const old = before ?? {};
  const values = now ?? {};
  for (const name in values) if (!sameFields(values[name], old[name])) out.transition(id, name, values[name]);
  for (const name in old) if (values[name] === undefined) out.transition(id, name, undefined);
}

export function writeAnimations(
  id: number,
  before: WidgetProps['animate'],
  now: WidgetProps['animate'],
  out: Commands,
): void {
  const old = (before ?? {}) as Values;
  const values = (now ?? {}) as Values;
  for (const name in values)
    if (values[name] !== undefined && !sameFields(values[name], old[name]))
      out.animate(id, name, values[name]);
  for (const name in old)
    if (old[name] !== undefined && values[name] === undefined) out.animate(id, name, undefined);
}

function sameFields(before: unknown, now: unknown): boolean {
  if (before === now) return true;
  if (typeof before !== 'object' || typeof now !== 'object' || before === null || now === null) return false;
  const old = before as Values;
  const values = now as Values;
  for (const name of ['duration', 'delay', 'easing', 'from', 'to', 'repeat', 'alternate'])
    if (!Object.is(old[name], values[name])) return false;
  return true;
}

/** Static style and own style as one: for a root with too many shared styles. */
export function mergedStyle({ staticStyle, style }: WidgetProps): Style | undefined {
  return staticStyle === undefined ? style : { ...expand(staticStyle), ...(style && expand(style)) };
}
