/** Random pages that keep what waits, here and there, under the same keys at different places and within different contexts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { ReactNode } from 'react';
import { seed } from '../../../tests/support/chance.js';
import { piped } from './support/piped.js';
import { React, sluice, stock } from './support/renderers.js';

const { Cached } = await import('../src/index.js');
const { createElement: h, Suspense, use, useContext, useId } = React;

const comes = (): Promise<string> => new Promise((resolve) => void setImmediate(() => resolve('here')));
const Context = React.createContext('nothing');
const Reads = (): ReactNode => h('b', null, useContext(Context));
const Id = (): ReactNode => h('i', { id: useId() });

type Tree =
  | { type: 'text'; text: string }
  | { type: 'reads' | 'ids' }
  | { type: 'element' | 'boundary'; children: Tree[] }
  | { type: 'provides'; value: string; children: Tree[] }
  | { type: 'waits' | 'hands'; child: Tree }
  | { type: 'kept'; at: number };

interface Held {
  awaits: boolean;
  trees: Tree[];
}

interface Later {
  child: () => ReactNode;
}

const Late = ({ child }: Later): ReactNode => [use(comes()), child()][1];
/** What it has read shows only in what is below it. */
const HandsOn = ({ child }: Later): ReactNode => h(Says, { text: useContext(Context), child });
const Says = ({ text, child }: Later & { text: string }): ReactNode => [
  use(comes()),
  h('u', { key: 'u' }, text, child()),
];

function nodeOf(tree: Tree, library: readonly Held[], key = 0): ReactNode {
  switch (tree.type) {
    case 'text':
      return tree.text;
    case 'reads':
      return h(Reads, { key });
    case 'ids':
      return h(Id, { key });
    case 'element':
      return h('p', { key }, ...nodesOf(tree.children, library));
    case 'boundary':
      return h(Suspense, { key, fallback: 'soon' }, ...nodesOf(tree.children, library));
    case 'provides':
      return h(Context, { key, value: tree.value }, ...nodesOf(tree.children, library));
    case 'waits':
      return h(Late, { key, child: () => nodeOf(tree.child, library) });
    case 'hands':
      return h(HandsOn, { key, child: () => nodeOf(tree.child, library) });
    case 'kept': {
      const { awaits = false, trees = [] } = library[tree.at] ?? {};
      const inner = nodesOf(trees, library.slice(0, tree.at));
      return h(Cached, { key, cacheKey: String(tree.at), awaits }, ...inner);
    }
    default:
      return null;
  }
}

function nodesOf(trees: readonly Tree[], library: readonly Held[]): ReactNode[] {
  return trees.map((tree, at) => nodeOf(tree, library, at));
}

const LIBRARY = 3;
const { trees } = fc.letrec<{ trees: Tree[]; tree: Tree }>((tie) => ({
  trees: fc.array(tie('tree'), { minLength: 1, maxLength: 2, depthIdentifier: 'tree' }),
  tree: fc.oneof(
    { depthIdentifier: 'tree', maxDepth: 4, withCrossShrink: true },
    fc.record({ type: fc.constant('text'), text: fc.constantFrom('a', '<') }),
    fc.record({ type: fc.constantFrom('reads', 'ids') }),
    { weight: 4, arbitrary: fc.record({ type: fc.constant('kept'), at: fc.nat(LIBRARY - 1) }) },
    { weight: 4, arbitrary: fc.record({ type: fc.constantFrom('waits', 'hands'), child: tie('tree') }) },
    fc.record({ type: fc.constantFrom('element', 'boundary'), children: tie('trees') }),
    fc.record({
      type: fc.constant('provides'),
      value: fc.constantFrom('a', 'b'),
      children: tie('trees'),
    }),
  ),
}));
const held = fc.record({ awaits: fc.boolean(), trees });

/** Whether something comes in a place of its own shows in the comments and, when it is long, in its place. */
const withoutComments = (html: string): string => html.replaceAll('<!-- -->', '');

void test('random pages that keep what waited are as they would be without', async () => {
  const runs = Number(process.env['SLUICE_REACT_CACHED_RUNS'] ?? 500);
  const before = sluice.cacheStatistics();
  await fc.assert(
    fc.asyncProperty(
      fc.array(held, { minLength: LIBRARY, maxLength: LIBRARY }),
      fc.array(trees, { minLength: 2, maxLength: 3 }),
      async (library, contents) => {
        sluice.purge();
        for (const content of [...contents, ...contents]) {
          const page = (): ReactNode => h('main', null, ...nodesOf(content, library));
          const expected = withoutComments(await piped(stock, page()));
          assert.equal(withoutComments(await piped(sluice, page())), expected);
        }
      },
    ),
    { numRuns: runs, seed },
  );
  const { hits } = sluice.cacheStatistics();
  assert.ok(hits - before.hits > runs, `${hits} hits`);
});
