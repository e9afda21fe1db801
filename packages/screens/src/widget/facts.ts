/* oxlint-disable typescript/no-non-null-assertion -- names that the tables have */
/** Facts of properties, ready for look-ups by name. */
import { COMMAND, EASINGS, PROPERTIES, type PropertyFacts } from '../stream/codes.js';

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

export const NUMBER = 0;
export const LENGTH = 1;
export const INTEGER = 2;
export const COLOR = 3;
export const CHOICE = 4;
export const FLAG = 5;
export const TEXT = 6;
/** First code of names in a style that are no property of the stream. */
export const SHORTHAND = 7;
export const TRANSITION = 8;

/** Name in a style, ready to be written. */
export interface Entry {
  readonly code: number;
  /** NUMBER to TRANSITION. */
  readonly kind: number;
  /** First words of the commands that write it. */
  readonly number: number;
  readonly integer: number;
  readonly string: number;
  /** Numbers of a choice by name. */
  readonly choices: Readonly<Record<string, number | undefined>> | null;
}

const KINDS = {
  number: NUMBER,
  length: LENGTH,
  integer: INTEGER,
  color: COLOR,
  choice: CHOICE,
  flag: FLAG,
  text: TEXT,
};

function entryOf(code: number, kind: number, values: readonly string[] | undefined): Entry {
  let choices: Record<string, number> | null = null;
  if (values !== undefined) {
    choices = Object.create(null) as Record<string, number>;
    for (let i = 0; i < values.length; i++) choices[values[i]!] = i;
  }
  const high = code << 8;
  return {
    code,
    kind,
    number: COMMAND.NUMBER | high,
    integer: COMMAND.INTEGER | high,
    string: COMMAND.STRING | high,
    choices,
  };
}

/** All names that a style can have. */
export const entries = Object.create(null) as Record<string, Entry | undefined>;
for (const name in PROPERTIES) {
  const { code, type, values } = facts[name]!;
  entries[name] = entryOf(code, KINDS[type], values);
}
for (const name of SHORTHAND_NAMES) entries[name] = entryOf(0, SHORTHAND, undefined);
entries['transition'] = entryOf(0, TRANSITION, undefined);

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

let warned = false;

/** Reports once that objects of styles do not last. */
export function warnOfInline(): void {
  if (!development || warned) return;
  warned = true;
  console.error(
    'A root has had more than 4,096 objects as staticStyle or focusStyle. Comparing each with the known ones is slow: move the objects out of the components',
  );
}

const LIMIT = 256;
/** Characters of a value in a message. */
const TEXT_MAX = 200;
const reported = new Set<string>();

/** Text of a value for messages. No value makes it throw. */
function textOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  try {
    const json: string | undefined = JSON.stringify(value);
    return (json ?? String(value)).slice(0, TEXT_MAX);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** Reports a wrong value once for each property and value. */
export function wrong(name: string, value: unknown): void {
  if (!development) return;
  const key = `${name}: ${textOf(value)}`;
  if (reported.has(key) || reported.size >= LIMIT) return;
  reported.add(key);
  console.error(
    facts[name] === undefined && SHORTHANDS[name] === undefined && name !== 'easing'
      ? `A widget has no property ${name}; it is ignored`
      : `Wrong value of a widget's property, ignored: ${key}`,
  );
}
