// Screens at random, as a server makes them: every property with values of its type.
import * as fc from 'fast-check';
import type {
  AnimationJson,
  LookJson,
  ScreenJson,
  TransitionJson,
  WidgetJson,
} from '../../src/adopt/json.ts';
import { EASINGS, PROPERTIES, type PropertyFacts, VERSION } from '../../src/stream/codes.ts';

const facts = Object.entries(PROPERTIES) as [string, PropertyFacts][];
const float = fc.oneof(
  fc.integer({ min: -2000, max: 2000 }),
  fc.integer({ min: -2000, max: 2000 }).map((tenths) => Math.fround(tenths / 8)),
);
const color = fc.integer({ min: 0, max: 0xffffff }).map((rgb) => `#${rgb.toString(16).padStart(6, '0')}80`);
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('__proto__', '</script>', '\u2028'),
);

function valueOf({ type, values = [] }: PropertyFacts): fc.Arbitrary<number | string | boolean> {
  switch (type) {
    case 'text':
      return text;
    case 'flag':
      return fc.boolean();
    case 'choice':
      return fc.constantFrom(...values);
    case 'color':
      return color;
    case 'integer':
      return fc.integer({ min: -3, max: 900 });
    case 'length':
      return fc.oneof(
        float,
        fc.integer({ min: 0, max: 100 }).map((value) => `${value}%`),
      );
    case 'number':
      return float;
  }
}

/** A text makes a widget that may have no children. */
const named = (names: readonly [string, PropertyFacts][]) =>
  fc.constantFrom(...names).chain(([name, of]) => fc.tuple(fc.constant(name), valueOf(of)));
const values = fc
  .array(named(facts.filter(([name]) => name !== 'text')), { maxLength: 5 })
  .map((entries) => Object.fromEntries(entries));
const moving = fc.constantFrom(...facts.filter(([, { animates }]) => animates).map(([name]) => name));
const easing = fc.constantFrom(...EASINGS);
const time = fc.nat(5000);
const transition: fc.Arbitrary<TransitionJson> = fc.tuple(time, time, easing);
const transitions = fc.dictionary(moving, transition, { maxKeys: 2, noNullPrototype: true });
const animation: fc.Arbitrary<AnimationJson> = fc
  .record(
    {
      from: float,
      to: float,
      duration: time,
      delay: fc.integer({ min: 1, max: 99 }),
      alternate: fc.constant(true),
    },
    { requiredKeys: ['to', 'duration'] },
  )
  .map((each) => ({ ...each }));
const animations = fc.dictionary(moving, animation, { maxKeys: 1, noNullPrototype: true });

const filled = <Of extends object>(name: string, of: fc.Arbitrary<Of>): fc.Arbitrary<object> =>
  of.map((each) => (Object.keys(each).length === 0 ? {} : { [name]: each }));
const look: fc.Arbitrary<LookJson> = fc
  .tuple(filled('values', values), filled('transitions', transitions))
  .map((parts) => Object.assign({}, ...parts));

const { widget } = fc.letrec<{ widget: WidgetJson }>((tie) => ({
  widget: fc
    .tuple(
      fc.option(fc.nat(2), { nil: undefined }),
      fc.option(fc.nat(2), { nil: undefined }),
      look,
      filled('animations', animations),
      fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constant({}),
        text.map((each) => ({ text: each })),
        fc.array(tie('widget'), { minLength: 1, maxLength: 4 }).map((children) => ({ children })),
      ),
    )
    .map(([style, focusStyle, given, moves, content]) => {
      const own = 'text' in content ? { ...given, values: { ...given.values, text: content.text } } : given;
      return {
        ...(style !== undefined && { style }),
        ...(focusStyle !== undefined && { focusStyle }),
        ...own,
        ...moves,
        ...('children' in content && { children: content.children }),
      };
    }),
}));

const count = (widgets: readonly WidgetJson[]): number =>
  widgets.reduce((sum, { children = [] }) => sum + 1 + count(children), 0);

/** Screens with three styles, any of which may say the same. */
export const screens: fc.Arbitrary<ScreenJson> = fc
  .tuple(fc.tuple(look, look, look), fc.array(widget, { maxLength: 4 }), fc.nat())
  .map(([styles, widgets, focus]) => ({
    version: VERSION,
    width: 1280,
    height: 720,
    styles,
    widgets,
    focus: focus % (count(widgets) + 1),
  }));
