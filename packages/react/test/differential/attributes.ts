/** Attributes with all their oddities: names by the group whose rule they share, values of every type. */

import * as fc from 'fast-check';
import type { ActionSpec, Prop, Special, Value } from './description.ts';

const words = [
  'a',
  'plain',
  '',
  ' ',
  '0',
  '1',
  '12',
  '-3',
  'true',
  'false',
  'a b',
  '"quoted"',
  "it's",
  '<b>&amp;</b>',
  '&',
  '&lt;',
  'javascript:alert(1)',
  ' JavaScript:x',
  'java\nscript:x',
  '\u0001javascript:x',
  'data:text/html,x',
  '/path?a=1&b=2',
  'ünïcode ✓',
  '😀',
  '\ud83d',
  '\ude00',
  '\n',
  '\nleading',
  'line\nline',
  '\t',
  '\u00a0',
  '\u0000',
  '</script>',
  '</style><style>',
  '<!--',
  '-->',
  ']]>',
  '</textarea>',
  'x'.repeat(40),
  'ä&'.repeat(30),
];

/** Text as people write it and as nobody should. */
export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...words) },
  { weight: 2, arbitrary: fc.string({ maxLength: 8 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
);

export const action: fc.Arbitrary<ActionSpec> = fc
  .record({
    fields: fc.constantFrom<ActionSpec['fields']>('none', 'data', 'attributes', 'null', 'throws', 'file'),
    signature: fc.constantFrom(undefined, true, false),
  })
  .map(({ fields, signature }) => (signature === undefined ? { fields } : { fields, signature }));

const special: fc.Arbitrary<Special> = fc.oneof(
  fc.constantFrom<Special>(
    { $: 'undefined' },
    { $: 'nan' },
    { $: 'infinity' },
    { $: 'minus-zero' },
    { $: 'callback-ref' },
    { $: 'bigint', v: '12345678901234567890' },
    { $: 'symbol', v: 's' },
    { $: 'function', v: 'f' },
    { $: 'to-string', v: '<shown>' },
    { $: 'to-string-throws', v: 'no string' },
    { $: 'url', v: '/a?b=c&d' },
    { $: 'date', v: 0 },
    { $: 'object', v: [['a', 1]] },
    { $: 'null-prototype' },
    { $: 'array', v: [] },
    { $: 'array', v: ['a', 1, null] },
  ),
  action.map((v) => ({ $: 'action' as const, v })),
);

export const value: fc.Arbitrary<Value> = fc.oneof(
  { weight: 10, arbitrary: text },
  { weight: 3, arbitrary: fc.constantFrom<Value>(0, 1, -1, 2.5, 1e21, 1e-7, 100) },
  { weight: 3, arbitrary: fc.boolean() },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 3, arbitrary: special },
);

const styleNames = [
  ...`
    color backgroundColor width height lineHeight opacity zIndex flex flexGrow flexShrink order
    fontWeight zoom animationIterationCount aspectRatio borderImageOutset borderImageSlice
    borderImageWidth boxFlex boxFlexGroup boxOrdinalGroup columnCount columns flexPositive flexNegative
    flexOrder gridArea gridRow gridRowEnd gridRowSpan gridRowStart gridColumn gridColumnEnd
    gridColumnSpan gridColumnStart fontSizeAdjust lineClamp orphans scale tabSize widows fillOpacity
    floodOpacity stopOpacity strokeDasharray strokeDashoffset strokeMiterlimit strokeOpacity strokeWidth
    MozAnimationIterationCount MozBoxFlex MozLineClamp msAnimationIterationCount msFlex msZoom
    msTransform msGridColumns WebkitBoxFlex WebkitLineClamp WebkitTransform WebkitFlexGrow OTransition
    margin padding-left --custom --customCase --n transition content top fontSize gap float cssFloat
    background<x constructor toString
  `
    .trim()
    .split(/\s+/),
  '',
];
const styleValue: fc.Arbitrary<Value> = fc.oneof(
  fc.constantFrom<Value>(
    0,
    1,
    10,
    -2,
    1.5,
    '0',
    '10',
    '10px',
    ' red ',
    '',
    'a"b',
    'url(x?a&b)',
    '5 ',
    true,
    false,
    null,
    { $: 'undefined' },
    { $: 'nan' },
    { $: 'infinity' },
    { $: 'minus-zero' },
  ),
  value,
);
export const style: fc.Arbitrary<Value> = fc.oneof(
  {
    weight: 60,
    arbitrary: fc
      .array(fc.tuple(fc.constantFrom(...styleNames), styleValue), { maxLength: 4 })
      .map((v) => ({ $: 'object' as const, v })),
  },
  { weight: 1, arbitrary: value },
);

const names = [
  ...`
    className id title lang dir role tabIndex width height viewBox alt name type rel target label
    htmlFor httpEquiv acceptCharset crossOrigin charSet for class classname accept-charset http-equiv
    tabindex src href action formAction xlinkHref xlink:href cite poster data manifest icon srcSet
    srcDoc imageSrcSet contentEditable spellCheck draggable value autoReverse externalResourcesRequired
    focusable preserveAlpha enterKeyHint allowFullScreen async autoPlay controls default defer disabled
    disablePictureInPicture disableRemotePlayback formNoValidate hidden inert loop noModule noValidate
    open playsInline readOnly required reversed scoped seamless itemScope credentialless autoFocus
    multiple muted checked selected capture download cols rows size span rowSpan start colSpan maxLength
    min max step xlinkActuate xlinkArcrole xlinkRole xlinkShow xlinkTitle xlinkType xmlBase xmlLang
    xmlSpace xmlns xmlnsXlink xmlns:xlink data-a data- DATA-B dataC aria-label aria-hidden ARIA-x
    data-ünïcode onClick onclick onUnknown on ON One oN-x onXFunction defaultValue defaultChecked
    innerHTML innerText textContent suppressContentEditableWarning suppressHydrationWarning ref is nonce
    popover popoverTarget fetchPriority loading as precedence accentHeight clipPath fillOpacity
    strokeWidth strokeLinecap stopColor markerEnd textAnchor fontFamily panose1 panose-1 xHeight
    unicodeRange vectorEffect baseFrequency gradientTransform pathLength attributeName d x cx points
    transform offset fill custom camelCase with-dash with:colon with.dot _under 1digit a>b a=b ü $
    constructor toString hasOwnProperty valueOf key itemProp property content media sizes form method
    encType formMethod formEncType formTarget referrerPolicy integrity blocking color mask onLoad
    onError wrap summary dateTime shadowRootMode children
  `
    .trim()
    .split(/\s+/),
  'data-a b',
  'data-"x',
  'a"b',
  'a b',
  '',
];
/** Not at random: children from props, and a key of odd type, have cases of their own in the generator of trees. */
const skipped = new Set(['key', 'children']);
const usual = names.filter((name) => !skipped.has(name));

const anyProp: fc.Arbitrary<Prop> = fc.tuple(fc.constantFrom(...usual), value);
const styleProp: fc.Arbitrary<Prop> = style.map((v): Prop => ['style', v]);
const plainProp: fc.Arbitrary<Prop> = fc.tuple(
  fc.constantFrom('className', 'id', 'title', 'data-a', 'href'),
  text,
);
const inventedProp: fc.Arbitrary<Prop> = fc.tuple(
  fc.string({
    unit: fc.constantFrom('a', 'B', '-', ':', '_', '1', 'o', 'n', '.', '<'),
    minLength: 1,
    maxLength: 5,
  }),
  value,
);

/** Props of a name twice are left in: the later one wins, as in a spread. */
export const props: fc.Arbitrary<readonly Prop[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: plainProp },
    { weight: 8, arbitrary: anyProp },
    { weight: 2, arbitrary: styleProp },
    { weight: 1, arbitrary: inventedProp },
  ),
  { maxLength: 4 },
);

/** Props for a tag of which some names matter more: one of these, or any. */
export function propsOfTag(
  named: Readonly<Record<string, fc.Arbitrary<Value>>>,
): fc.Arbitrary<readonly Prop[]> {
  const own = Object.entries(named).map(([name, arbitrary]) => arbitrary.map((v): Prop => [name, v]));
  return fc.array(
    fc.oneof(...own.map((arbitrary) => ({ weight: 6, arbitrary })), { weight: 4, arbitrary: anyProp }),
    {
      maxLength: 7,
    },
  );
}
