/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Facts of properties, ready for look-ups by name. */
import { EASINGS, PROPERTIES, type PropertyFacts } from '../stream/codes.js';

export const facts = PROPERTIES as Readonly<Record<string, PropertyFacts | undefined>>;

/** Names behind a shorthand, the least specific first. */
export const SHORTHANDS: Readonly<Record<string, readonly string[] | undefined>> = {
  gap: ['rowGap', 'columnGap'],
  padding: ['paddingLeft', 'paddingTop', 'paddingRight', 'paddingBottom'],
  margin: ['marginLeft', 'marginTop', 'marginRight', 'marginBottom'],
  paddingHorizontal: ['paddingLeft', 'paddingRight'],
  paddingVertical: ['paddingTop', 'paddingBottom'],
  marginHorizontal: ['marginLeft', 'marginRight'],
  marginVertical: ['marginTop', 'marginBottom'],
};
export const SHORTHAND_NAMES = Object.keys(SHORTHANDS);

const choices = new Map<PropertyFacts, Map<unknown, number>>();

/** Number of a choice; undefined if there is none of that name. */
export function choiceOf(property: PropertyFacts, value: unknown): number | undefined {
  let numbers = choices.get(property);
  if (numbers === undefined) {
    numbers = new Map(property.values!.map((name, index) => [name as unknown, index]));
    choices.set(property, numbers);
  }
  return numbers.get(value);
}

const easings = new Map<unknown, number>(EASINGS.map((name, index) => [name, index]));

export function easingOf(name: unknown): number {
  if (name === undefined) return 0;
  const easing = easings.get(name);
  if (easing === undefined) wrong('easing', name);
  return easing ?? 0;
}

let development = false;
try {
  development = process.env['NODE_ENV'] !== 'production';
} catch {
  // No process, as on a device: production.
}

const LIMIT = 256;
const reported = new Set<string>();

/** Reports a wrong value once for each property and value. */
export function wrong(name: string, value: unknown): void {
  if (!development) return;
  const key = `${name}: ${typeof value === 'string' ? JSON.stringify(value) : String(value)}`;
  if (reported.has(key) || reported.size >= LIMIT) return;
  reported.add(key);
  console.error(
    facts[name] === undefined && SHORTHANDS[name] === undefined && name !== 'easing'
      ? `A widget has no property ${name}; it is ignored`
      : `Wrong value of a widget's property, ignored: ${key}`,
  );
}
