// Batches that a surface takes, made from random numbers; and words at random.
import * as fc from 'fast-check';
import type { Batch } from '../../src/stream/batch.ts';
import { EASINGS, PROPERTIES } from '../../src/stream/codes.ts';
import { parseBatch } from '../../src/stream/parse.ts';

const float = fc.oneof(
  fc.integer({ min: -5000, max: 5000 }),
  fc.float({ noNaN: true }),
  fc.constantFrom(0.1, -0, 1e-30, Number.POSITIVE_INFINITY),
);
const names = Object.keys(PROPERTIES) as (keyof typeof PROPERTIES)[];
const property = fc.oneof(
  fc.constantFrom(...names),
  fc.integer({ min: 100, max: 255 }).map((code) => `#${code}` as const),
);
const easing = fc.constantFrom(...EASINGS);
const count = fc.integer({ min: 0, max: 2 ** 17 - 1 });

/** The value of an entry, as the text form has it: name, property, and words after the widget. */
const entry = fc.oneof(
  fc.tuple(fc.constant('number'), property, float.map(String)),
  fc.tuple(fc.constant('percent'), property, float.map(String)),
  fc.tuple(fc.constant('integer'), property, fc.integer({ min: 0, max: 9 })).map(([name, of, value]) => {
    const isColor = Object.hasOwn(PROPERTIES, of) && PROPERTIES[of as 'color'].type === 'color';
    return [name, of, isColor ? `#a0b0c00${value}` : String(value)] as const;
  }),
  fc.tuple(
    fc.constant('string'),
    property,
    fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  ),
  fc.tuple(
    fc.constant('transition'),
    property,
    fc.tuple(float, float, easing).map((words) => words.join(' ')),
  ),
);

interface Step {
  readonly kind: number;
  readonly one: number;
  readonly other: number;
  readonly entry: readonly string[];
  readonly entries: readonly (readonly string[])[];
  readonly repeat: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.nat(14),
  one: fc.nat(1000),
  other: fc.nat(1000),
  entry,
  entries: fc.array(entry, { maxLength: 4 }),
  repeat: count,
});

/** Texts of batches that follow each other on one surface, all of them right. */
export const histories: fc.Arbitrary<string[]> = fc
  .array(fc.array(step, { maxLength: 30 }), { maxLength: 6 })
  .map(written);

export const batches: fc.Arbitrary<Batch> = histories.map((texts) => parseBatch(texts[0] ?? ''));

interface Model {
  readonly parents: Map<number, number>;
  readonly styles: number[];
  next: number;
}

function written(steps: readonly (readonly Step[])[]): string[] {
  const model: Model = { parents: new Map(), styles: [], next: 1 };
  return steps.map((batch) => batch.map((each) => line(model, each)).join('\n'));
}

function line(model: Model, { kind, one, other, entry, entries, repeat }: Step): string {
  const ids = [...model.parents.keys()];
  const id = ids[one % Math.max(ids.length, 1)];
  if (id === undefined || kind <= 2) {
    model.parents.set(model.next, -1);
    model.next += 1;
    return `create ${model.next - 1}`;
  }
  if (kind <= 5) return place(model, id, [0, ...ids][other % (ids.length + 1)] ?? 0, repeat);
  if (kind === 6) {
    for (const each of ids.filter((each) => isBelow(model, each, id))) model.parents.delete(each);
    return `remove ${id}`;
  }
  if (kind === 7) {
    model.styles.push(model.styles.length + 1);
    const inside = entries.map(([name, of, value]) => `${name} ${of} ${value}`).join('; ');
    return `define ${model.styles.length} { ${inside} }`;
  }
  const style = [0, ...model.styles][other % (model.styles.length + 1)];
  if (kind === 8) return `style ${id} ${style}`;
  if (kind === 9) return `focus-style ${id} ${style}`;
  if (kind === 10) return `focus ${other % 2 === 0 ? id : 0}`;
  if (kind === 11) return `animate x ${id} NaN 12.5 300 0 ease-out ${repeat}`;
  if (kind === 12) return `${other % 2 === 0 ? 'stop' : 'reset'} x ${id}`;
  return `${entry[0]} ${entry[1]} ${id} ${entry[2]}`;
}

function place(model: Model, id: number, parent: number, at: number): string {
  if (parent !== 0 && isBelow(model, parent, id)) return `focus ${id}`;
  const others = [...model.parents]
    .filter(([each, above]) => above === parent && each !== id)
    .map(([each]) => each);
  model.parents.set(id, parent);
  return `place ${parent} ${id} ${[0, ...others][at % (others.length + 1)]}`;
}

function isBelow(model: Model, id: number, above: number): boolean {
  for (let each: number | undefined = id; each !== undefined; each = model.parents.get(each))
    if (each === above) return true;
  return false;
}

/** Words that are mostly near to commands, with strings. */
export const words: fc.Arbitrary<Batch> = fc
  .record({
    words: fc.array(
      fc.oneof(
        fc.integer({ min: -2, max: 20 }),
        fc.integer(),
        fc.nat(255).map((code) => 4 | (code << 8)),
      ),
      {
        maxLength: 60,
      },
    ),
    strings: fc.array(fc.string(), { maxLength: 3 }),
  })
  .map(({ words, strings }) => ({ words: Int32Array.from(words), length: words.length, strings, cause: 0 }));
