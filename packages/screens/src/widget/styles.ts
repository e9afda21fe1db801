/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Styles: shared ones, known to the surface by number, and the comparison of own ones. */
import type { Commands } from './commands.js';
import { SHORTHAND, SHORTHANDS, SHORTHAND_NAMES, entries, facts, warnOfInline, wrong } from './facts.js';
import type { Style, WidgetProps } from './props.js';

/** Definitions of a root, after which static styles are sent as own values. */
const LIMIT = 4_096;
// oxlint-disable-next-line typescript/no-explicit-any -- values of any property
type Values = Record<string, any>;

/** Shared styles of a root: by the identity of their objects, and by value for those that components write anew in each render. */
export class Styles {
  private readonly numbers = new Map<Style, number>();
  private readonly byValue = new Map<string, number>();
  private next = 1;
  /** First number that the surface does not know. */
  private unknown = 1;

  /** Whether a style is known, or can become known. */
  takes(style: Style): boolean {
    return this.next <= LIMIT || this.numbers.has(style) || this.byValue.has(keyOf(style));
  }

  /** Number of a style; 0 if it is not known and cannot become known. */
  find(style: Style, out: Commands): number {
    const known = this.numbers.get(style);
    if (known !== undefined) return known;
    return this.takes(style) ? this.numberOf(style, out) : 0;
  }

  /** Number of a style; the surface gets its definition if it has no equal one. */
  numberOf(style: Style, out: Commands): number {
    const known = this.numbers.get(style);
    if (known !== undefined) return known;
    // The compiler's constants are frozen. They last, and are the same object each time.
    if (Object.isFrozen(style) && this.numbers.size < LIMIT) {
      const constant = this.next++;
      this.numbers.set(style, constant);
      out.define(constant, () => writeStyle(0, style, out));
      return constant;
    }
    const key = keyOf(style);
    let number = this.byValue.get(key);
    if (number === undefined) {
      number = this.next++;
      this.byValue.set(key, number);
      out.define(number, () => writeStyle(0, style, out));
    }
    if (this.numbers.size < LIMIT) this.numbers.set(style, number);
    else warnOfInline();
    return number;
  }

  /** The surface has all definitions. */
  sent(): void {
    this.unknown = this.next;
  }

  /** Definitions since the last `sent` have not come to the surface. */
  unsent(): void {
    if (this.next === this.unknown) return;
    for (const [style, number] of this.numbers) if (number >= this.unknown) this.numbers.delete(style);
    for (const [key, number] of this.byValue) if (number >= this.unknown) this.byValue.delete(key);
    this.unknown = this.next;
  }

  /** Gives styles the numbers by which the surface knows them; `next` is the first that it has not. */
  renumber(numbers: ReadonlyMap<number, number>, next: number): void {
    for (const [style, number] of this.numbers) this.numbers.set(style, numbers.get(number) ?? number);
    for (const [key, number] of this.byValue) this.byValue.set(key, numbers.get(number) ?? number);
    this.next = next;
  }
}

/** Equal for styles that are written alike, in the same order. */
function keyOf(style: Style): string {
  const values = style as Values;
  let key = '';
  for (const name in values) {
    const value = values[name] as unknown;
    if (value === undefined || value === null) continue;
    key += `${name}:`;
    if (typeof value === 'string') key += JSON.stringify(value);
    else if (typeof value === 'number' || typeof value === 'boolean') key += String(value);
    else if (name === 'transition')
      for (const property in value as Values) {
        const transition = (value as Values)[property] as unknown;
        if (typeof transition !== 'object' || transition === null)
          key += `${property} ${String(transition)} `;
        else {
          const { duration, delay, easing } = transition as Values;
          key += `${property} ${String(duration)} ${String(delay)} ${String(easing)} `;
        }
      }
    key += ';';
  }
  return key;
}

export function isStyle(style: unknown): style is Style {
  return typeof style === 'object' && style !== null;
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
export function writeDifference(id: number, before: unknown, now: unknown, out: Commands): void {
  // Apps write `condition && style`, too.
  if (!isStyle(before)) {
    if (isStyle(now)) writeStyle(id, now, out);
    return;
  }
  const old = before as Values;
  const values = (isStyle(now) ? now : {}) as Values;
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
  return isStyle(staticStyle) ? { ...expand(staticStyle), ...(isStyle(style) && expand(style)) } : style;
}
