/**
 * Trees that a browser can take over without a word: valid nesting, text that a parser keeps, and nothing that is meant to
 * differ between server and browser. All else is the fuzzer's.
 */

import * as fc from 'fast-check';
import type { Hook, Node, Prop } from '../differential/description.ts';
import { fitFor } from '../differential/generate.ts';

const text = fc.constantFrom(
  'a',
  'two words',
  '0',
  '&',
  '<b>',
  '"quoted"',
  "it's",
  'ünïcode ✓',
  '😀',
  '-->',
  '&lt;',
);

const prop: fc.Arbitrary<Prop> = fc.oneof(
  fc.tuple(fc.constantFrom('className', 'title', 'lang', 'data-a', 'aria-label', 'role'), text),
  fc.tuple(fc.constantFrom('hidden', 'inert', 'draggable', 'aria-hidden'), fc.boolean()),
  fc.tuple(fc.constant('tabIndex'), fc.constantFrom(0, -1, 3)),
  fc.tuple(fc.constant('onClick'), fc.constant({ $: 'function' as const, v: '' })),
  fc
    .array(
      fc.tuple(
        fc.constantFrom('width', 'lineHeight', 'opacity', 'marginTop', 'flexGrow', 'zIndex', '--own'),
        fc.constantFrom(0, 1, 12, '2px', null, ''),
      ),
      { maxLength: 3 },
    )
    .map((v): Prop => ['style', { $: 'object', v: uniqueByName(v) }]),
);
const props = fc.array(prop, { maxLength: 3 }).map(uniqueByName);

function uniqueByName(all: readonly Prop[]): Prop[] {
  return [...new Map(all.map((each) => [each[0], each])).values()];
}

const promise = fc.nat({ max: 3 });
const context = fc.nat({ max: 2 });
const hook: fc.Arbitrary<Hook> = fc.oneof(
  fc.constant<Hook>({ h: 'id' }),
  fc.record({ h: fc.constant('state' as const), v: text, lazy: fc.boolean(), updates: fc.nat(2) }),
  fc.record({
    h: fc.constant('context' as const),
    context,
    through: fc.constantFrom('useContext' as const, 'use' as const),
  }),
  fc.record({ h: fc.constant('use' as const), promise }),
  fc.constantFrom<Hook>(
    { h: 'callback' },
    { h: 'deferred', initial: false },
    { h: 'transition', start: false },
    { h: 'optimistic', update: false },
    { h: 'effects' },
    { h: 'form-status' },
  ),
);

const leaf: fc.Arbitrary<Node> = fc.oneof(
  { weight: 4, arbitrary: text.map((v): Node => ({ k: 'text', v })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Node>({ k: 'value', v: null }, { k: 'value', v: 7 }, { k: 'value', v: false }),
  },
);

const element = (tags: readonly string[], of: fc.Arbitrary<readonly Node[]>): fc.Arbitrary<Node> =>
  fc.record({
    k: fc.constant('element' as const),
    tag: fc.constantFrom(...tags),
    props,
    shape: fc.constantFrom('arguments', 'array', 'keyed'),
    of,
  });
const fixed = (tag: string, some: readonly Prop[], of: readonly Node[] = []): Node => ({
  k: 'element',
  tag,
  props: some,
  shape: 'arguments',
  of,
});

/** Elements with rules of their own, as a form has them. */
const fields = fc.constantFrom<Node>(
  fixed('input', [
    ['defaultValue', 'a"b'],
    ['name', 'n'],
  ]),
  fixed('input', [
    ['type', 'checkbox'],
    ['defaultChecked', true],
  ]),
  fixed('textarea', [['defaultValue', '\nfirst line']]),
  fixed(
    'select',
    [['defaultValue', 'b']],
    ['a', 'b'].map((v) => fixed('option', [['value', v]], [{ k: 'text', v }])),
  ),
  fixed(
    'svg',
    [['viewBox', '0 0 1 1']],
    [
      fixed('path', [
        ['d', 'M0 0'],
        ['strokeWidth', 2],
      ]),
    ],
  ),
  fixed('ul', [], [fixed('li', [], [{ k: 'text', v: 'item' }])]),
  fixed(
    'table',
    [],
    [fixed('tbody', [], [fixed('tr', [], [fixed('td', [['colSpan', 2]], [{ k: 'value', v: 1 }])])])],
  ),
  fixed('my-element', [['some-attribute', 'x']]),
  fixed('div', [['dangerouslySetInnerHTML', { $: 'html', v: '<i>raw</i>' }]]),
  fixed('br', []),
);

/** `version`: of the React that they are for. */
export function roots(version: string): fc.Arbitrary<readonly Node[]> {
  const nodes = fc.array(pages(4), { minLength: 1, maxLength: 3 });
  const fit = nodes.map((each) => fitFor(version, each));
  return version.startsWith('18.') ? fit.map(fitFor18) : fit;
}

/**
 * Without what React 18 says of react-dom's own pages too: it does not know `inert`, looks in vain for an empty style, warns of a ref to a
 * function, and counts ids below a component otherwise than the server does when that asks for one and is rendered again at once.
 */
function fitFor18(nodes: readonly Node[]): readonly Node[] {
  return JSON.parse(JSON.stringify(nodes), (name, value: unknown) => {
    if (name === 'props') return (value as Prop[]).filter(([prop]) => prop !== 'inert');
    if (name === 'hooks')
      return (value as Hook[]).some(({ h }) => h === 'id') ? steady(value as Hook[]) : value;
    const node = value as { $?: unknown; k?: unknown; v: Prop[] } | null;
    if (node?.$ === 'object') return { $: 'object', v: node.v.filter(([, each]) => each !== '') };
    return node?.k === 'lazy' ? { ...node, as: 'forward-ref' } : value;
  }) as readonly Node[];
}

function steady(hooks: readonly Hook[]): readonly Hook[] {
  return hooks.map((each) => (each.h === 'state' ? { ...each, updates: 0 } : each));
}

function pages(depth: number): fc.Arbitrary<Node> {
  if (depth === 0) return leaf;
  const below = pages(depth - 1);
  const of = fc.array(below, { maxLength: 4 });
  const waits = fc.record({
    k: fc.constant('lazy' as const),
    promise,
    as: fc.constant('component' as const),
    of,
  });
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 6, arbitrary: leaf },
    { weight: 8, arbitrary: element(['div', 'span', 'section', 'b', 'em', 'main'], of) },
    { weight: 2, arbitrary: fields },
    {
      weight: 6,
      arbitrary: fc.record({
        k: fc.constant('component' as const),
        as: fc.constantFrom('function', 'memo', 'forward-ref'),
        name: fc.constant('App'),
        hooks: fc.array(hook, { maxLength: 3 }),
        returns: fc.constantFrom('element', 'fragment', 'bare'),
        of,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        k: fc.constant('class' as const),
        name: fc.constant('Classy'),
        parts: fc.constantFrom(['state'], ['state', 'derived-state'], ['pure'], []),
        context: fc.option(context),
        of,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        k: fc.constant('wrap' as const),
        as: fc.constantFrom('fragment', 'profiler', 'activity'),
        shape: fc.constant('arguments' as const),
        of,
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        k: fc.constant('suspense' as const),
        fallback: fc.constant([{ k: 'text', v: 'waiting' }] as const),
        of: fc.array(fc.oneof(waits, below), { maxLength: 2 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ k: fc.constant('provider' as const), context, v: text, of }) },
    { weight: 1, arbitrary: fc.record({ k: fc.constant('consumer' as const), context, of }) },
  );
}
