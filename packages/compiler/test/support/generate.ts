/** Random JSX as source text. Each expression is wrapped in `t(n, …)`, which records that it was evaluated. */
import * as fc from 'fast-check';

const GENERAL_TAGS = [
  'div',
  'span',
  'p',
  'a',
  'ul',
  'li',
  'section',
  'button',
  'form',
  'label',
  'h1',
  'td',
  'video',
];
const ODD_TAGS = [
  'input',
  'textarea',
  'select',
  'option',
  'x-card',
  'blink',
  'svg',
  'path',
  'foreignObject',
  'pre',
  'table',
  'tr',
];
const VOID_TAGS = ['br', 'hr', 'img', 'source', 'col'];

const NAMES =
  `className id title htmlFor tabIndex hidden disabled href src srcSet width colSpan rowSpan span size download
  draggable contentEditable spellCheck aria-label aria-hidden data-x data-fooBar role value defaultValue checked autoFocus
  muted allowFullScreen inert xlinkHref strokeWidth viewBox fill acceptCharset crossOrigin foo fooBar onclick onClick
  suppressHydrationWarning is lang name type action formAction method loading fetchPriority itemProp open start cols
  capture itemScope xmlLang css`.split(/\s+/);

/** Values of the component's props, by name. */
export const VALUES: Readonly<Record<string, unknown>> = {
  text: 'text & "more" <b>',
  empty: '',
  space: ' ',
  line: '\nline',
  url: 'javascript:alert(1)',
  path: '/a?b=c&d=e',
  zero: 0,
  number: 12.5,
  nan: Number.NaN,
  yes: true,
  no: false,
  nothing: null,
  missing: undefined,
  call: () => 'called',
  list: ['a', 'b & c', 3],
  style: { color: 'red', marginTop: 4, lineHeight: 2, '--x': ' y ', WebkitFlex: 1, opacity: 0, top: null },
};
const SCALARS = Object.keys(VALUES).filter((name) => !['list', 'style', 'call'].includes(name));

const expression = (value: string): string => `t(0, ${value})`;

const literal = fc.constantFrom(
  '"x"',
  "'a\\'b'",
  '`tick`',
  '""',
  '"\\n"',
  '1',
  '0',
  '-1.5',
  '0x10',
  'true',
  'false',
  'null',
  'undefined',
  '("as" as string)',
);
const rawText = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('text', ' text ', '\n  line\n', '\n', 'a &amp; b', "it's", 'é ✓') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('  ', '&nbsp;', 'two\n   lines  ', '&lt;i&gt;', '"q"', '{/* comment */}'),
  },
  fc.constantFrom('x\ty', '&#32;', '\u00a0raw'),
);

const scalar = fc.constantFrom(...SCALARS).map((name) => expression(`p.${name}`));
const style = fc.constantFrom(
  '{{ color: "red", marginTop: 4, "--x": " 1 ", lineHeight: 1.5, msFlex: 1 }}',
  '{{}}',
  '{{ color: null, top: 0, width: "" }}',
  `{${expression('p.style')}}`,
  `{{ color: ${expression('p.text')}, top: 1 }}`,
);
const quoted = fc.constantFrom(
  '"plain"',
  '\'a "b" &amp; c\'',
  '"&copy;"',
  '""',
  '"lazy"',
  '"javascript:x"',
  '"two\n  lines"',
);
const attribute = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom(...NAMES), quoted).map(([name, value]) => `${name}=${value}`),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom(...NAMES), literal).map(([name, value]) => `${name}={${value}}`),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom(...NAMES), scalar).map(([name, value]) => `${name}={${value}}`),
  },
  { weight: 1, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 2, arbitrary: style.map((value) => `style=${value}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      `{...${expression('{ id: "spread", title: p.text }')}}`,
      `onClick={${expression('p.call')}}`,
      'key="static"',
      `key={${expression('p.text')}}`,
      `data-x={${expression('p.call')}}`,
      'ref={null}',
    ),
  },
);
const joined = (one: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .uniqueArray(one, { maxLength: 4, selector: (attribute) => attribute.split(/[={]/)[0] })
    .map((all) => all.map((attribute) => ` ${attribute}`).join(''));

// Most elements have what templates take, or templates would be small.
const plain = fc.constantFrom(
  'className="a"',
  'id={"b"}',
  'hidden',
  `title={${expression('p.text')}}`,
  `data-x={${expression('p.number')}}`,
  `className={${expression('p.missing')}}`,
  `onClick={${expression('p.call')}}`,
  'style={{ top: 1 }}',
);
const attributes = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  { weight: 3, arbitrary: joined(plain) },
  { weight: 2, arbitrary: joined(attribute) },
);

/** Half of the images are lazy. */
const lazy = (tag: string, all: string): string =>
  tag === 'img' && all.length % 2 === 0 && !all.includes('loading') ? ' loading="lazy"' : '';

const depth = { maxDepth: 6, depthSize: 'medium', depthIdentifier: 'jsx' } as const;

/** An element; `t` and `p` are in scope. */
export const jsx = fc.letrec<Record<'container' | 'element' | 'child' | 'children' | 'node', string>>(
  (tie) => ({
    node: fc.oneof(
      depth,
      { weight: 4, arbitrary: scalar },
      { weight: 2, arbitrary: tie('element') },
      fc.constant(expression('p.list')),
      fc.tuple(scalar, tie('element')).map(([value, element]) => `(${value}) && ${element}`),
      fc.tuple(scalar, tie('element'), tie('element')).map(([c, a, b]) => `(${c}) ? ${a} : ${b}`),
      tie('element').map(
        (element) => `p.list.map((one: unknown) => <Item key={t(1, one)}>${element}</Item>)`,
      ),
      fc.tuple(tie('element'), tie('element')).map(([a, b]) => `[${a}, ${b}]`),
      tie('children').map(
        (children) => `p.list.map((one: unknown) => <li key={t(2, one)} data-x={t(3, one)}>${children}</li>)`,
      ),
    ),
    child: fc.oneof(
      depth,
      { weight: 4, arbitrary: rawText },
      { weight: 2, arbitrary: literal.map((value) => `{${value}}`) },
      { weight: 4, arbitrary: tie('node').map((node) => `{${node}}`) },
      { weight: 8, arbitrary: tie('element') },
      tie('children').map((children) => `<>${children}</>`),
      tie('children').map((children) => `<Item>${children}</Item>`),
      tie('children').map((children) => `<Fragment>${children}</Fragment>`),
      tie('element').map((element) => `<Item icon={${element}} />`),
      fc
        .tuple(scalar, quoted, tie('children'))
        .map(
          ([value, text, children]) =>
            `<parts.Item icon={${value}} data-x=${text} hidden>${children}</parts.Item>`,
        ),
      scalar.map((value) => `<Given icon={${value}} />`),
    ),
    children: fc.array(tie('child'), { minLength: 1, maxLength: 4, size: 'max' }).map((all) => all.join('')),
    container: fc
      .tuple(
        fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...GENERAL_TAGS) }, fc.constantFrom(...ODD_TAGS)),
        attributes,
        tie('children'),
      )
      .map(([tag, all, children]) => `<${tag}${all}>${children}</${tag}>`),
    element: fc.oneof(
      depth,
      fc
        .tuple(fc.constantFrom(...VOID_TAGS), attributes)
        .map(([tag, all]) => `<${tag}${all}${lazy(tag, all)} />`),
      { weight: 5, arbitrary: tie('container') },
    ),
  }),
).container;

/** Numbers each `t(` so that its record tells which expression was evaluated. */
function numbered(source: string): string {
  let n = 0;
  return source.replaceAll(/\bt\(\d+,/g, () => `t(${n++},`);
}

/** A module whose `default` is one component per element. */
export const moduleSource = (elements: readonly string[], options: { readonly withIds: boolean }): string =>
  numbered(`
import { Fragment, useId } from 'react';
type Props = { p: Record<string, any>, t: <T>(n: number, value: T) => T };
const Item = ({ icon, children }: any) => ${options.withIds ? '<i data-id={useId()}>{icon}{children}</i>' : '<i>{icon}{children}</i>'};
const parts = { Item };
const Given: any = ({ icon, children }: any) => [icon, children];
Given.defaultProps = { children: 'given', icon: 'no icon' };
export default [
  ${elements.map((element) => `({ p, t }: Props) => ${element}`).join(',\n  ')}
];
`);
