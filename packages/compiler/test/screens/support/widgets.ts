/** Random widgets as source text, around a prop `p`, and values for it. */
import * as fc from 'fast-check';

const NAMES = [
  'width',
  'opacity',
  'background',
  'padding',
  'paddingLeft',
  'paddingHorizontal',
  'gap',
  'rowGap',
  'margin',
  'display',
  'clip',
  'zIndex',
];
const constant = fc.constantFrom('4', '0', "'50%'", "'#fff'", 'true', '-1', 'SIZE', 'undefined');
const dynamic = fc.constantFrom('p.a', 'p.b', 'p.c', 'p.a + 1', 'p.list[0]', 'p.zero ? 1 : p.b');
const entry = fc
  .tuple(fc.constantFrom(...NAMES), fc.oneof(constant, dynamic))
  .map(([name, value]) => `${name}: ${value}`);
const style = fc
  .array(
    fc.oneof(
      { weight: 12, arbitrary: entry },
      fc.constantFrom(
        '...p.more',
        "['width']: p.a",
        "'height': 3",
        'transition: { x: 100 }',
        'transition: p.t',
      ),
    ),
    { maxLength: 6 },
  )
  .map((all) => `style={{ ${all.join(', ')} }}`);
const attribute = fc.oneof(
  { weight: 6, arbitrary: style },
  fc.constantFrom(
    'text={p.b}',
    'text="constant"',
    'image={p.c}',
    'staticStyle={{ width: 9, paddingLeft: 2 }}',
    'staticStyle={p.fixed}',
    'focusStyle={{ opacity: 1 }}',
    '{...p.spread}',
    'key={p.a}',
    'key="k"',
    'style={p.fixed}',
    'animate={{ x: { to: 1, duration: 5 } }}',
  ),
);
export const widget = fc
  .uniqueArray(attribute, { maxLength: 4, selector: (one) => one.split('=')[0] })
  .map((all) => `<Widget ${all.join(' ')} />`);
export const PLACES = {
  root: (one: string) => one,
  child: (one: string) => `<Widget text="around">${one}</Widget>`,
  conditional: (one: string, other: string) => `p.zero ? ${one} : ${other}`,
  seen: (one: string) => `<Box>${one}</Box>`,
  cloned: (one: string) => `<Cloned p={p}>${one}</Cloned>`,
  list: (one: string, other: string) =>
    `<>{[1, 2].map((n) => <Widget key={n} style={{ width: n }} />)}${one}{${other}}</>`,
} as const;

/** A module whose `App` shows the widgets at a place. */
export const moduleOf = (one: string, other: string, place: keyof typeof PLACES): string => `
import { cloneElement } from 'react';
import { Widget } from '@sluice/screens';
const SIZE = 12;
const Box = ({ children }) => <Widget>{children}</Widget>;
const Cloned = ({ p, children }) => <Widget>{cloneElement(children, p.clone)}<Widget text={JSON.stringify([Object.keys(children.props), children.props.style])} /></Widget>;
export const App = ({ p }) => ${PLACES[place](one, other)};
`;

const value = fc.constantFrom<unknown>(
  1,
  2,
  0,
  -0,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  '5%',
  '#123',
  true,
  undefined,
  null,
);
export const input = fc.record({
  a: value,
  b: value,
  c: value,
  zero: fc.boolean(),
  list: fc.constant([3]),
  more: fc.constantFrom({ width: 1 }, { padding: 3 }, {}),
  t: fc.constantFrom({ x: 3 }, undefined),
  fixed: fc.constant({ width: 7, margin: 1 }),
  spread: fc.constantFrom({}, { style: { width: 1 } }, { text: 't', staticStyle: { opacity: 0 } }),
  clone: fc.constantFrom({}, { style: { gap: 1 } }, { text: 'cloned' }, { style: undefined }, { image: 'i' }),
});
