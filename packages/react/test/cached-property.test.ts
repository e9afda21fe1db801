/**
 * Random pages that keep HTML here and there, under the same keys at different places and within different contexts: each is what it would be if
 * nothing were kept.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { ReactNode } from 'react';
import { seed } from '../../../tests/support/chance.js';
import { piped } from './support/piped.js';
import { React, ReactDOM, sluice, stock } from './support/renderers.js';

const { Cached } = await import('../src/index.js');
const { createElement: h } = React;

type Tree =
  | { type: 'text'; text: string }
  | { type: 'element'; tag: string; children: Tree[] }
  | { type: 'special'; at: number }
  | { type: 'reads' | 'ids' }
  | { type: 'provides'; value: unknown; children: Tree[] }
  | { type: 'suspense'; children: Tree[] }
  | { type: 'cached'; at: number };

/** Subtrees by key: a key stands for the same content everywhere, as it has to. Each may hold those before it. */
type Library = readonly Tree[][];

const Context = React.createContext<unknown>(null);
const Reads = (): ReactNode => h('b', null, JSON.stringify(React.useContext(Context)));
const Ids = (): ReactNode => h('i', { id: React.useId(), title: React.useId() });
const Asks = (): ReactNode => {
  ReactDOM.preload('/asked', { as: 'image', fetchPriority: 'high' });
  ReactDOM.prefetchDNS('//asked');
  return 'asked';
};

const special: readonly (() => ReactNode)[] = [
  () => h('title', null, 'title'),
  () => h('meta', { name: 'm', content: 'c' }),
  () => h('link', { rel: 'stylesheet', href: '/a.css', precedence: 'high' }),
  () => h('style', { href: 's', precedence: 'low' }, 'p{}'),
  () => h('script', { async: true, src: '/a.js' }),
  () => h('img', { src: '/a', alt: '' }),
  () => h('img', { src: '/b', srcSet: '/b 2x', alt: '', fetchPriority: 'high' }),
  () => h(Asks),
  () => h('option', { value: 'a' }, 'text'),
  () => h('form', { action: () => undefined }),
  () => h('input', { name: 'n', defaultValue: '"' }),
];

function nodes(trees: readonly Tree[], library: Library): ReactNode[] {
  return trees.map((tree, at): ReactNode => {
    const key = String(at);
    switch (tree.type) {
      case 'text':
        return tree.text;
      case 'element':
        return h(
          tree.tag,
          { key, defaultValue: tree.tag === 'select' ? 'a' : undefined },
          ...nodes(tree.children, library),
        );
      case 'special':
        return h(React.Fragment, { key }, special[tree.at]?.());
      case 'reads':
        return h(Reads, { key });
      case 'ids':
        return h(Ids, { key });
      case 'provides':
        return h(Context, { key, value: tree.value }, nodes(tree.children, library));
      case 'suspense':
        return h(React.Suspense, { key, fallback: 'later' }, nodes(tree.children, library));
      case 'cached': {
        const content = library[tree.at] ?? [];
        const within = nodes(content, library.slice(0, tree.at));
        return h(Cached, { key, cacheKey: `${tree.at}`, tags: [`tag-${tree.at}`] }, ...within);
      }
      default:
        return null;
    }
  });
}

const LIBRARY = 3;
const value = fc.oneof(fc.constantFrom('a', 'b', 1), fc.record({ of: fc.constantFrom('a', 'b') }));
const trees = fc.letrec<{ trees: Tree[]; tree: Tree }>((tie) => ({
  trees: fc.array(tie('tree'), { maxLength: 3, depthIdentifier: 'tree' }),
  tree: fc.oneof(
    { depthIdentifier: 'tree', maxDepth: 4, withCrossShrink: true },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('text'), text: fc.constantFrom('', 'a', '<') }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constantFrom('reads', 'ids') }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('special'), at: fc.nat(special.length - 1) }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('cached'), at: fc.nat(LIBRARY - 1) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('element'),
        tag: fc.constantFrom('p', 'div', 'svg', 'select', 'table', 'picture', 'noscript'),
        children: tie('trees'),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ type: fc.constant('provides'), value, children: tie('trees') }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('suspense'), children: tie('trees') }) },
  ),
}));
const sessions = fc.record({
  library: fc.array(trees.trees, { minLength: LIBRARY, maxLength: LIBRARY }),
  pages: fc.array(
    fc.record({
      trees: fc.array(trees.tree, { minLength: 1, maxLength: 4 }),
      prefix: fc.constantFrom(undefined, 'p'),
      api: fc.constantFrom('renderToString', 'renderToStaticMarkup', 'pipe'),
    }),
    { minLength: 2, maxLength: 4 },
  ),
});

async function rendered(
  renderer: typeof stock | typeof sluice,
  api: string,
  node: ReactNode,
  prefix: string | undefined,
): Promise<string> {
  const options = prefix === undefined ? {} : { identifierPrefix: prefix };
  if (api === 'pipe') return await piped(renderer, node, options);
  return renderer[api as 'renderToString'](node, options);
}

const runs = Number(process.env['SLUICE_REACT_CACHED_RUNS'] ?? 1000);

void test('I7: pages with cached HTML are identical to pages without', async () => {
  const before = sluice.cacheStatistics();
  await fc.assert(
    fc.asyncProperty(sessions, async ({ library, pages }) => {
      sluice.purge();
      for (const { trees: content, api, prefix } of [...pages, ...pages]) {
        const page = (): ReactNode => h('body', null, ...nodes(content, library));
        const expected = await rendered(stock, api, page(), prefix);
        assert.equal(await rendered(sluice, api, page(), prefix), expected);
      }
    }),
    { numRuns: runs, seed },
  );
  const { hits, misses } = sluice.cacheStatistics();
  assert.ok(hits - before.hits > runs && misses - before.misses > runs, `${hits} hits, ${misses} misses`);
});
