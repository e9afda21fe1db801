// Values of properties as a surface holds them: numbers (also colours, choices and flags), texts, and percentages.
import { COMMAND } from '../../stream/codes.js';
import { PROPERTY_OF, type Property } from '../../stream/facts.js';

/** Share of the parent: 50 is one half. */
export class Percent {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

export type Value = number | string | Percent;

/** Way of a property from one value to the next. */
export interface Transition {
  readonly duration_ms: number;
  readonly delay_ms: number;
  /** Place in the list of easings. */
  readonly easing: number;
}

/** Length without a value. */
export const AUTO = Number.NaN;

/** Default of each property by its code: choices and flags as numbers, `auto` as not a number. */
export const DEFAULT_OF: readonly (Value | undefined)[] = PROPERTY_OF.map(
  (property) => property && defaultOf(property),
);

function defaultOf(property: Property): Value {
  const { type, values, default: value } = property;
  if (type === 'choice') return values?.indexOf(String(value)) ?? 0;
  if (type === 'flag') return value === true ? 1 : 0;
  if (type === 'color') return Number.parseInt(String(value).slice(1), 16);
  return value === 'auto' ? AUTO : (value as Value);
}

/**
 * Value that a command carries, or undefined where the property is unknown or has no such values: a surface ignores those.
 */
export function valueOf(
  command: number,
  property: Property | undefined,
  integer: number,
  float: number,
  text: string,
): Value | undefined {
  if (property === undefined) return undefined;
  const { type } = property;
  const isNumber = type === 'number' || type === 'length' || type === 'integer';
  switch (command) {
    case COMMAND.NUMBER:
      return isNumber && Number.isFinite(float) ? float : undefined;
    case COMMAND.PERCENT:
      return type === 'length' && Number.isFinite(float) ? new Percent(float) : undefined;
    case COMMAND.STRING:
      return type === 'text' ? text : undefined;
    default:
      if (type === 'color') return integer >>> 0;
      if (type === 'choice') return property.values?.[integer] === undefined ? undefined : integer;
      if (type === 'flag') return integer === 0 || integer === 1 ? integer : undefined;
      return isNumber ? integer : undefined;
  }
}

export const isSame = (one: Value, other: Value): boolean =>
  one instanceof Percent ? other instanceof Percent && one.value === other.value : Object.is(one, other);
