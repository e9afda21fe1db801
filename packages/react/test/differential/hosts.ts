/** Host elements: the many that are alike, and those of which the renderer knows something. */

import * as fc from 'fast-check';
import { action, props, propsOfTag, style, text, value } from './attributes.ts';
import type { ChildShape, Node, Prop, Value } from './description.ts';

type Values = fc.Arbitrary<Value>;
type Host = (children: fc.Arbitrary<readonly Node[]>) => fc.Arbitrary<Node>;

export const shape: fc.Arbitrary<ChildShape> = fc.oneof(
  { weight: 20, arbitrary: fc.constant('arguments') },
  { weight: 8, arbitrary: fc.constantFrom('array', 'keyed') },
  { weight: 4, arbitrary: fc.constantFrom('set', 'generator') },
  { weight: 1, arbitrary: fc.constant('promise') },
);
const truth: Values = fc.constantFrom<Value>(true, false, 'true', '', null, 0);
const url: Values = fc.constantFrom<Value>(
  '/a',
  '/b',
  '/c?x=1&y="2"',
  'https://cdn.example/x',
  '',
  'javascript:1',
  { $: 'url', v: '/u' },
  null,
);
const choice: Values = fc.constantFrom<Value>(
  'a',
  'b',
  '1',
  1,
  '',
  'one two',
  null,
  { $: 'undefined' },
  true,
);
const choices: Values = fc.oneof(
  choice,
  fc.array(choice, { maxLength: 3 }).map((v) => ({ $: 'array' as const, v })),
);
const actionValue: Values = fc.oneof(
  text,
  action.map((v) => ({ $: 'action' as const, v })),
  fc.constant(null),
);
const cross: Values = fc.constantFrom<Value>('anonymous', 'use-credentials', '', 'x');
const html: Values = fc.oneof(
  { weight: 30, arbitrary: text.map((v) => ({ $: 'html' as const, v })) },
  { weight: 9, arbitrary: value.map((v) => ({ $: 'html' as const, v })) },
  { weight: 1, arbitrary: value },
);

const made = (
  tag: string,
  of: fc.Arbitrary<readonly Prop[]>,
  children: fc.Arbitrary<readonly Node[]>,
): fc.Arbitrary<Node> =>
  fc.record({ k: fc.constant('element' as const), tag: fc.constant(tag), props: of, shape, of: children });
const nothing = fc.constant([] as readonly Node[]);
/** For elements that throw when they have children: most trees should get past them. */
const seldom = (children: fc.Arbitrary<readonly Node[]>) =>
  fc.oneof({ weight: 80, arbitrary: nothing }, { weight: 1, arbitrary: children });
const words = fc.array(
  fc.oneof(
    text.map((v): Node => ({ k: 'text', v })),
    value.map((v): Node => ({ k: 'value', v })),
  ),
  { maxLength: 3 },
);

const common = [
  'div',
  'span',
  'p',
  'a',
  'b',
  'ul',
  'li',
  'section',
  'main',
  'h1',
  'table',
  'tbody',
  'tr',
  'td',
  'label',
  'strong',
  'em',
  'video',
  'audio',
  'iframe',
  'pre',
  'listing',
  'dialog',
  'details',
  'summary',
  'noscript',
  'template',
  'object',
  'canvas',
  'fieldset',
  'slot',
  'map',
  'picture',
  'figure',
  'blink',
];
const drawn = [
  'svg',
  'g',
  'path',
  'circle',
  'text',
  'tspan',
  'linearGradient',
  'foreignObject',
  'use',
  'style',
  'title',
  'script',
  'a',
  'image',
  'math',
  'mi',
  'mrow',
  'annotation-xml',
  'font-face',
  'color-profile',
];
const empty = [
  'br',
  'hr',
  'wbr',
  'area',
  'base',
  'col',
  'embed',
  'source',
  'track',
  'param',
  'keygen',
  'menuitem',
];
const custom = ['my-element', 'x-', 'my-Element', 'a-b-c'];
const odd = [
  'DIV',
  'Custom',
  'a.b',
  'x:y',
  'h-1_ä',
  'bad tag',
  '<',
  '1x',
  'constructor',
  'toString',
  'body',
  'head',
  'html',
  'frameset',
];

const tagged =
  (tags: readonly string[], usually = (of: fc.Arbitrary<readonly Node[]>) => of): Host =>
  (children) =>
    fc.record({
      k: fc.constant('element' as const),
      tag: fc.constantFrom(...tags),
      props,
      shape,
      of: usually(children),
    });

const withHtml: Host = (children) =>
  fc.record({
    k: fc.constant('element' as const),
    tag: fc.constantFrom(
      'div',
      'p',
      'pre',
      'svg',
      'style',
      'script',
      'option',
      'select',
      'my-element',
      'textarea',
      'title',
      'a',
      'button',
      'form',
      'noscript',
      'head',
    ),
    props: fc
      .tuple(props, html)
      .map(([some, v]): readonly Prop[] => [...some, ['dangerouslySetInnerHTML', v]]),
    shape,
    of: seldom(children),
  });

const option: Host = () =>
  made('option', propsOfTag({ value: choice, selected: truth, disabled: truth, label: text }), words);
const select: Host = (children) =>
  made(
    'select',
    propsOfTag({ value: choices, defaultValue: choices, multiple: truth, name: text }),
    fc.array(
      fc.oneof(
        option(nothing),
        made('optgroup', propsOfTag({ label: text }), fc.array(option(nothing), { maxLength: 3 })),
        ...[children].map((each) => made('span', props, each)),
      ),
      { maxLength: 4 },
    ),
  );
const textarea: Host = () =>
  made(
    'textarea',
    propsOfTag({ value, defaultValue: value, rows: value, readOnly: truth }),
    seldom(words.map((each) => each.slice(0, 2))),
  );
/** A first newline, which a browser's parser drops, has to be doubled. */
const preformatted: Host = () =>
  fc
    .tuple(fc.constantFrom('pre', 'listing', 'textarea', 'div'), fc.constantFrom('\n', '\nx', '\n\n', 'x\n'))
    .map(([tag, v]) => ({ k: 'element', tag, props: [], shape: 'arguments', of: [{ k: 'text', v }] }));
const formFields = {
  name: text,
  formAction: actionValue,
  formEncType: text,
  formMethod: text,
  formTarget: text,
};
const input: Host = (children) =>
  made(
    'input',
    propsOfTag({
      type: fc.constantFrom('text', 'checkbox', 'radio', 'submit', 'image'),
      value,
      defaultValue: value,
      checked: truth,
      defaultChecked: truth,
      ...formFields,
    }),
    seldom(children),
  );
const button: Host = (children) =>
  made('button', propsOfTag({ type: fc.constantFrom('submit', 'button'), value, ...formFields }), children);
const form: Host = (children) =>
  made(
    'form',
    propsOfTag({ action: actionValue, encType: text, method: text, target: text, name: text }),
    children,
  );

const anchor: Host = (children) =>
  made('a', propsOfTag({ href: url, target: text, rel: text, name: text }), children);
const img: Host = (children) =>
  made(
    'img',
    propsOfTag({
      src: url,
      srcSet: fc.constantFrom<Value>('/a 1x, /b 2x', '', { $: 'undefined' }),
      sizes: text,
      loading: fc.constantFrom('lazy', 'eager'),
      alt: text,
      crossOrigin: cross,
      fetchPriority: fc.constantFrom('high', 'low', 'auto'),
      onLoad: fc.constant<Value>({ $: 'function', v: '' }),
      decoding: fc.constantFrom('async', 'sync'),
      referrerPolicy: text,
      integrity: text,
      type: text,
      style,
    }),
    seldom(children),
  );
const link: Host = (children) =>
  made(
    'link',
    propsOfTag({
      rel: fc.constantFrom<Value>(
        'stylesheet',
        'preload',
        'icon',
        'canonical',
        'modulepreload',
        'preconnect',
        'dns-prefetch',
        null,
        '',
      ),
      href: url,
      precedence: fc.constantFrom<Value>('default', 'high', 'a&b', 1),
      as: fc.constantFrom('script', 'style', 'image', 'font', 'fetch'),
      crossOrigin: cross,
      integrity: text,
      disabled: truth,
      media: text,
      itemProp: text,
      onLoad: fc.constant<Value>({ $: 'function', v: '' }),
      imageSrcSet: text,
      imageSizes: text,
      fetchPriority: fc.constantFrom('high', 'low'),
      type: text,
    }),
    seldom(children),
  );
const meta: Host = (children) =>
  made(
    'meta',
    propsOfTag({
      charSet: fc.constantFrom('utf-8', ''),
      name: fc.constantFrom('viewport', 'description'),
      content: value,
      itemProp: text,
      property: text,
      httpEquiv: text,
    }),
    seldom(children),
  );
const title: Host = (children) => made('title', propsOfTag({ itemProp: text }), fc.oneof(words, children));
const script: Host = (children) =>
  made(
    'script',
    propsOfTag({
      src: url,
      async: truth,
      type: fc.constantFrom<Value>('module', 'text/javascript', 'application/json', ''),
      nonce: text,
      crossOrigin: cross,
      integrity: text,
      noModule: truth,
      onLoad: fc.constant<Value>({ $: 'function', v: '' }),
      onError: fc.constant<Value>({ $: 'function', v: '' }),
    }),
    fc.oneof(words, seldom(children)),
  );
const styleTag: Host = () =>
  made(
    'style',
    propsOfTag({
      href: fc.constantFrom<Value>('one', 'two', 'a b', '', null),
      precedence: fc.constantFrom<Value>('default', 'high', 'low', 1),
      media: text,
      nonce: text,
    }),
    words,
  );

/** Hosts by how often; children are generated by the caller. */
export function host(children: fc.Arbitrary<readonly Node[]>): fc.Arbitrary<Node> {
  const weighted: readonly (readonly [number, Host])[] = [
    [24, tagged(common)],
    [4, tagged(drawn)],
    [2, tagged(empty, seldom)],
    [3, tagged(custom)],
    [1, tagged(odd)],
    [3, withHtml],
    [2, select],
    [1, option],
    [2, textarea],
    [1, preformatted],
    [3, input],
    [2, button],
    [3, form],
    [2, anchor],
    [3, img],
    [3, link],
    [1, meta],
    [2, title],
    [2, script],
    [2, styleTag],
  ];
  return fc.oneof(...weighted.map(([weight, of]) => ({ weight, arbitrary: of(children) })));
}

/** A whole document around what is generated. */
export function document(children: fc.Arbitrary<readonly Node[]>): fc.Arbitrary<Node> {
  const head = made(
    'head',
    props,
    fc.array(fc.oneof(title(nothing), meta(nothing), link(nothing), styleTag(nothing), script(nothing)), {
      maxLength: 4,
    }),
  );
  const body = made('body', props, children);
  const parts = fc.tuple(fc.option(head), body, fc.option(link(nothing)));
  return made(
    'html',
    props,
    parts.map((each) => each.filter((node) => node !== null)),
  );
}
