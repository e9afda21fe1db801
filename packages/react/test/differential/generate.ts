/** Invents scenarios. Every arbitrary shrinks towards a single text rendered by `renderToString`. */

import * as fc from 'fast-check';
import { text, value } from './attributes.ts';
import {
  apis,
  type Api,
  type ClassPart,
  type Hook,
  type Node,
  type Outcome,
  type RenderOptions,
  type Scenario,
  type Script,
  type Thrown,
} from './description.ts';
import { hooksOf } from './generate-hooks.ts';
import { document, host, shape } from './hosts.ts';
import { contextCount, promiseCount } from './world.ts';

const context = fc.nat({ max: contextCount - 1 });
const promise = fc.nat({ max: promiseCount - 1 });
const name = fc.constantFrom('App', 'Card', 'List', '', 'Ünï');
const digest = fc.option(fc.constantFrom('d1', 'd"2&', '404'), { nil: undefined });

const thrown: fc.Arbitrary<Thrown> = fc.oneof(
  fc
    .record({ as: fc.constant('error' as const), message: text, digest })
    .map(({ digest: of, ...rest }) => (of === undefined ? rest : { ...rest, digest: of })),
  value.map((v) => ({ as: 'value' as const, v })),
);

const part = fc.constantFrom<ClassPart>(
  'state',
  'derived-state',
  'will-mount',
  'unsafe-will-mount',
  'function-update',
  'replace-state',
  'snapshot',
  'default-props',
  'constructor-reads-context',
  'error-boundary',
  'pure',
);

export const leaf: fc.Arbitrary<Node> = fc.oneof(
  { weight: 12, arbitrary: text.map((v): Node => ({ k: 'text', v })) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Node>(
      { k: 'value', v: null },
      { k: 'value', v: 7 },
      { k: 'value', v: true },
      { k: 'value', v: { $: 'bigint', v: '9' } },
    ),
  },
);
const faults: fc.Arbitrary<Node> = fc.oneof(
  { weight: 3, arbitrary: value.map((v): Node => ({ k: 'value', v })) },
  { weight: 3, arbitrary: thrown.map((v): Node => ({ k: 'throw', v })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('undefined', 'null', 'object', 'number', 'symbol', 'element', '')
      .map((v): Node => ({ k: 'bad-type', v })),
  },
);

/** Whatever waits, most of it inside a boundary: without one nothing is sent before it, and strings fail. */
function waiting(of: fc.Arbitrary<readonly Node[]>): fc.Arbitrary<Node> {
  const waits = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        k: fc.constant('lazy' as const),
        promise,
        as: fc.constantFrom('component', 'node', 'default-props', 'forward-ref'),
        of,
      }),
    },
    { weight: 2, arbitrary: fc.record({ k: fc.constant('awaited' as const), promise, of }) },
    {
      weight: 2,
      arbitrary: fc.record({ k: fc.constant('async-component' as const), promise: fc.option(promise), of }),
    },
    { weight: 1, arbitrary: fc.record({ k: fc.constant('throw-promise' as const), promise, of }) },
  ) as fc.Arbitrary<Node>;
  const within = fc.record({
    k: fc.constant('suspense' as const),
    fallback: of,
    of: fc.array(waits, { maxLength: 2 }),
  });
  return fc.oneof({ weight: 5, arbitrary: within }, { weight: 1, arbitrary: waits });
}

/**
 * `wild`: with components that throw and types that are none. They end a render, so that most trees are without.
 * `leaves`: what has nothing of its own below it.
 */
export function treesUpTo(depth: number, wild: boolean, leaves = leaf): fc.Arbitrary<Node> {
  if (depth === 0) return leaves;
  const below = treesUpTo(depth - 1, wild, leaves);
  const few = fc.array(below, { maxLength: 3 });
  const of = fc.array(below, { maxLength: 4 });
  return fc.oneof(
    { withCrossShrink: true, maxDepth: 12 },
    { weight: 14, arbitrary: leaves },
    { weight: 26, arbitrary: host(of) },
    {
      weight: 14,
      arbitrary: fc.record({
        k: fc.constant('component' as const),
        as: fc.constantFrom(
          'function',
          'function',
          'function',
          'memo',
          'memo-compare',
          'forward-ref',
          'memo-forward-ref',
          'default-props',
          'memo-default-props',
          'instance',
        ),
        name,
        hooks: hooksOf(wild),
        returns: fc.constantFrom('element', 'fragment', 'array', 'bare', 'body-first'),
        of,
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        k: fc.constant('class' as const),
        name,
        parts: fc.uniqueArray(part, { maxLength: 5 }),
        context: fc.option(context),
        of,
      }),
    },
    {
      weight: 6,
      arbitrary: fc
        .record({
          k: fc.constant('wrap' as const),
          as: fc.constantFrom(
            'fragment',
            'fragment',
            'strict',
            'profiler',
            'activity',
            'activity-hidden',
            'view-transition',
            'view-transition-named',
            'list-forwards',
            'list-together',
          ),
          key: fc.option(fc.constantFrom('a', 'b', '0', 'ü"'), { nil: undefined }),
          shape,
          of,
        })
        .map(({ key, ...rest }) => (key === undefined ? rest : { ...rest, key })),
    },
    {
      weight: 10,
      arbitrary: fc
        .record({
          k: fc.constant('suspense' as const),
          fallback: few,
          defer: fc.constantFrom(undefined, undefined, undefined, true),
          of,
        })
        .map(({ defer, ...rest }) => (defer === undefined ? rest : { ...rest, defer })),
    },
    { weight: 4, arbitrary: fc.record({ k: fc.constant('provider' as const), context, v: value, of }) },
    { weight: 2, arbitrary: fc.record({ k: fc.constant('consumer' as const), context, of: few }) },
    { weight: 8, arbitrary: waiting(few) },
    { weight: 1, arbitrary: context.map((index): Node => ({ k: 'context-child', context: index })) },
    {
      weight: 1,
      arbitrary: fc.record({
        k: fc.constant('legacy-context' as const),
        as: fc.constantFrom('class', 'function', 'not given', ...(wild ? (['undeclared'] as const) : [])),
        of: few,
      }),
    },
    { weight: 1, arbitrary: fc.record({ k: fc.constant('twice' as const), of: few }) },
    ...(wild
      ? [
          { weight: 6, arbitrary: faults },
          { weight: 1, arbitrary: fc.record({ k: fc.constant('portal' as const), of: few }) },
        ]
      : []),
  );
}

const scripts: fc.Arbitrary<readonly (string | Script)[]> = fc.array(
  fc.constantFrom<string | Script>(
    '/main.js',
    '/a?b&c"d',
    { src: '/i.js', integrity: 'sha"1' },
    { src: '/x.js', crossOrigin: 'anonymous' },
    { src: '/y.js', crossOrigin: 'use-credentials' },
  ),
  { maxLength: 2 },
);
const sometimes = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 });
const options: fc.Arbitrary<RenderOptions> = fc
  .record({
    identifierPrefix: sometimes(fc.constantFrom('p-', 'a"<')),
    nonce: sometimes(
      fc.constantFrom<NonNullable<RenderOptions['nonce']>>(
        'n1',
        'n"<',
        { script: 's', style: 't' },
        { style: 'u' },
      ),
    ),
    bootstrapScriptContent: sometimes(fc.constantFrom('go()', '</script><b>', '')),
    bootstrapScripts: sometimes(scripts),
    bootstrapModules: sometimes(scripts),
    progressiveChunkSize: sometimes(fc.constantFrom(1, 40, 600, 1e9)),
    importMap: sometimes(fc.constant({ imports: { a: '/a.js</script>' } })),
    namespaceURI: sometimes(
      fc.constantFrom('http://www.w3.org/2000/svg', 'http://www.w3.org/1998/Math/MathML', 'other'),
    ),
    maxHeadersLength: sometimes(fc.constantFrom(20, 120, 4000)),
  })
  .map(
    (given) =>
      Object.fromEntries(Object.entries(given).filter(([, each]) => each !== undefined)) as RenderOptions,
  );

const outcome: fc.Arbitrary<Outcome> = fc
  .record({ settles: fc.constantFrom('resolves', 'resolves', 'resolves', 'rejects'), v: text, digest })
  .map(({ digest: of, ...rest }) => (of === undefined ? rest : { ...rest, digest: of }) as Outcome);

/** Some settle before, some step by step, some never. */
const order = fc
  .tuple(
    fc.shuffledSubarray([...Array(promiseCount).keys()], { minLength: 2 }),
    fc.array(fc.boolean(), { minLength: promiseCount, maxLength: promiseCount }),
    fc.constantFrom(0, 0, 0, 1, 2),
  )
  .map(([some, together, early]) => {
    const steps: number[][] = [];
    for (const [index, each] of some.slice(early).entries()) {
      const last = steps.at(-1);
      if (last !== undefined && together[index] === true) last.push(each);
      else steps.push([each]);
    }
    return { before: some.slice(0, early), steps };
  });

/**
 * react-dom keeps what a component awaits with `use` in a variable of its module. Where such a component throws in a later
 * pass, a promise among children gets the value of another, even of another request. That is no behaviour to have, so
 * the two do not meet: with promises among children, components do without `use`.
 */
export function apart<Trees>(trees: Trees): Trees {
  const text = JSON.stringify(trees);
  if (!/"k":"(awaited|async-component)"|"shape":"promise"/.test(text) || !text.includes('"h":"use'))
    return trees;
  return JSON.parse(text, (name, value: unknown) =>
    name === 'hooks' ? (value as Hook[]).filter(({ h }) => !h.startsWith('use')) : value,
  ) as Trees;
}

/**
 * Before 19.2, whatever is waited for takes over what that variable holds, and hands it to the first component that comes of it. The wait of
 * a lazy one begins outside of every component, so that these are another's promises, or another request's.
 */
export function fitFor<Trees>(version: string, trees: Trees): Trees {
  if (version.startsWith('18.')) return fitFor18(trees);
  if (!/^19\.[01]\./.test(version)) return trees;
  const text = JSON.stringify(trees);
  if (!/"k":"(awaited|async-component)"|"shape":"promise"|"h":"use/.test(text)) return trees;
  return JSON.parse(text, (_name, value: unknown) => {
    const node = value as { k?: unknown; promise: number; of: readonly Node[] } | null;
    return node?.k === 'lazy' ? { k: 'throw-promise', promise: node.promise, of: node.of } : value;
  }) as Trees;
}

/**
 * React 18 refuses promises and contexts among children, which would end most renders: where that is not the point, there is
 * what it has instead.
 */
function fitFor18<Trees>(trees: Trees): Trees {
  return JSON.parse(JSON.stringify(trees), (name, value: unknown) => {
    if (name === 'shape' && value === 'promise') return 'array';
    const node = value as {
      k?: unknown;
      promise: number | null;
      context: number;
      of: readonly Node[];
    } | null;
    if (node?.k === 'async-component') return { k: 'throw-promise', promise: node.promise ?? 0, of: node.of };
    if (node?.k === 'context-child') return { k: 'consumer', context: node.context, of: [] };
    return value;
  }) as Trees;
}

/** `depth`: how deep trees may be; the size of a tree is bounded by it alone. */
export function roots(depth: number, leaves = leaf): fc.Arbitrary<readonly Node[]> {
  const nodes = fc.oneof(
    { weight: 3, arbitrary: fc.array(treesUpTo(depth, false, leaves), { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(treesUpTo(depth, true, leaves), { minLength: 1, maxLength: 3 }) },
  );
  return fc.oneof(
    { weight: 5, arbitrary: nodes },
    { weight: 1, arbitrary: document(nodes).map((each) => [each]) },
  );
}

/** `version`: of the React that they are for. */
export function scenarios(
  root: fc.Arbitrary<readonly Node[]>,
  only: readonly Api[] = apis,
  version = '',
): fc.Arbitrary<Scenario> {
  return fc
    .record({
      root,
      compiled: fc.constantFrom(false, false, true),
      api: fc.constantFrom(...only),
      options: fc.oneof(fc.constant({}), options),
      outcomes: fc.array(outcome, { minLength: promiseCount, maxLength: promiseCount }),
      order,
      abortAt: fc.constantFrom(null, null, null, null, null, null, 0, 1, 2),
      abortReason: fc.constantFrom('error', 'none', 'string'),
      flow: fc.constantFrom('shell', 'shell', 'all', 'slow'),
      digests: fc.constantFrom('message', 'own', 'none', 'not-given'),
      headers: fc.boolean(),
      formState: fc.constantFrom('none', 'none', 'no-match', 'permalink', 'key-path'),
    })
    .map(({ order: { before, steps }, root, ...rest }) => ({
      ...rest,
      root: fitFor(version, apart(root)),
      before,
      steps,
    }));
}
