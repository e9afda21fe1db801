/** The component cache with `awaits`: what had to wait for promises comes back without waiting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { ReactNode } from 'react';
import { piped } from './support/piped.js';
import { React, ReactDOM, sluice, stock } from './support/renderers.js';

const { Cached } = await import('../src/index.js');
const { createElement: h, Suspense, use, useContext, useId } = React;

type Asks = () => Promise<string>;

let asked = 0;
const comes: Asks = () => {
  asked += 1;
  return new Promise((resolve) => void setImmediate(() => resolve('here')));
};
/** What `use` does not have to wait for. */
const isThere: Asks = () => Object.assign(Promise.resolve('here'), { status: 'fulfilled', value: 'here' });

const Context = React.createContext('nothing');
const Reads = (): ReactNode => h('b', null, useContext(Context));
const Id = (): ReactNode => h('i', { id: useId() });

interface WaitsProps {
  asks: Asks;
  children?: ReactNode;
}

/** Asks anew at each attempt, as `use` allows. */
const Waits = ({ asks, children }: WaitsProps): ReactNode => h('p', null, use(asks()), children);

const kept = (...children: ReactNode[]): ReactNode =>
  h(Cached, { cacheKey: 'it', awaits: true }, ...children);
const boundary = (...children: ReactNode[]): ReactNode => h(Suspense, { fallback: 'soon' }, ...children);

let ownAsks: Asks = isThere;
const Own = (): ReactNode => h('p', null, use(ownAsks()));
Own.cacheKey = () => 'own';
Own.cacheAwaits = true;

// Components are the same in each page: `Cached` tells its children apart by what they are.
const Text = ({ asks }: WaitsProps): ReactNode => use(asks());
const Passes = ({ asks }: WaitsProps): ReactNode => h(React.Fragment, null, h(Waits, { asks }, h(Id)));
const InTurn = ({ asks }: WaitsProps): ReactNode => (use(asks()) === 'here' ? h(Waits, { asks }) : null);
const Twice = ({ asks }: WaitsProps): ReactNode => h('p', null, use(asks()), use(asks()));

/** Rendered three times: the first has to wait, the others do not. */
const pages: Record<string, (asks: Asks) => ReactNode> = {
  'in a boundary': (asks) => h('main', null, boundary(kept(h(Waits, { asks })))),
  'in an element of the shell, between texts': (asks) =>
    h('main', null, 'before', kept(h(Waits, { asks })), 'behind'),
  'as the whole page': (asks) => kept(h(Waits, { asks })),
  'text, between texts': (asks) => h('main', null, 'before', kept(h(Text, { asks })), 'behind'),
  'behind components that write nothing': (asks) => h('main', null, boundary(kept(h(Passes, { asks })))),
  'one promise after another': (asks) => h('main', null, boundary(kept(h(InTurn, { asks })))),
  'one promise after another, in one component': (asks) =>
    h('main', null, boundary(kept(h(Twice, { asks })))),
  'a component that says so itself': (asks) => {
    ownAsks = asks;
    return h('main', null, 'before', h(Own), boundary(h(Own)));
  },
  'with a provider and ids within': (asks) =>
    h('main', null, boundary(kept(h(Context, { value: 'within' }, h(Waits, { asks }, h(Reads), h(Id)))))),
  'with something kept within': (asks) =>
    h(
      'main',
      null,
      boundary(kept(h(Waits, { asks }, h(Cached, { cacheKey: 'inner' }, h('b', null, 'inner'))))),
    ),
};

for (const [name, page] of Object.entries(pages)) {
  void test(`what waited comes back without waiting: ${name}`, async () => {
    sluice.purge();
    assert.equal(await piped(sluice, page(comes)), await piped(stock, page(comes)));
    const before = asked;
    const expected = await piped(stock, page(isThere));
    for (let time = 0; time < 2; time += 1) assert.equal(await piped(sluice, page(comes)), expected);
    assert.equal(asked, before);
  });
}

void test('a promise that is there already counts as well', async () => {
  sluice.purge();
  const page = (asks: Asks): ReactNode => h('main', null, kept(h(Waits, { asks })), 'text');
  const expected = await piped(stock, page(isThere));
  for (const asks of [isThere, comes]) assert.equal(await piped(sluice, page(asks)), expected);
});

void test('what throws promises is kept as well', async () => {
  sluice.purge();
  let data: string | undefined;
  let calls = 0;
  const Throws = (): ReactNode => {
    calls += 1;
    if (data === undefined) throw Promise.resolve().then(() => (data = 'here'));
    return h('p', null, data);
  };
  for (let time = 0; time < 2; time += 1)
    assert.equal(await piped(sluice, h('div', null, kept(h(Throws)))), '<div><p>here</p></div>');
  assert.equal(calls, 2);
});

void test('a promise as a child is waited for and kept', async () => {
  sluice.purge();
  const page = (child: Promise<string>): ReactNode => h('main', null, kept(child as never));
  assert.match(await piped(sluice, page(comes())), /here/);
  assert.match(await piped(sluice, page(new Promise(() => undefined))), /here/);
});

void test('without `awaits`, and around what is kept with it, nothing is', async () => {
  for (const unlike of [{}, { awaits: false }]) {
    sluice.purge();
    const page = h('main', null, h(Cached, { cacheKey: 'x', ...unlike }, h(Waits, { asks: isThere })));
    await piped(sluice, page);
    assert.equal(sluice.cacheStatistics().entries, 0);
  }
  const around = h('main', null, h(Cached, { cacheKey: 'outer' }, h('u'), kept(h(Waits, { asks: comes }))));
  const expected = await piped(stock, around);
  for (let time = 0; time < 2; time += 1) assert.equal(await piped(sluice, around), expected);
  // What is used again within it has been waited for once, so it is none of the outer one's either.
  for (let time = 0; time < 2; time += 1) {
    await piped(sluice, h('main', null, h(Cached, { cacheKey: 'outer' }, kept(h(Waits, { asks: isThere })))));
    assert.equal(sluice.cacheStatistics().entries, 1);
  }
});

void test('not across a difference that is only seen behind the wait', async () => {
  sluice.purge();
  const page = (value: string, ...before: ReactNode[]): ReactNode =>
    h(
      Context,
      { value },
      h('main', null, ...before, boundary(kept(h(Waits, { asks: comes }, h(Reads), h(Id))))),
    );
  for (const [value, before] of [
    ['a', []],
    ['b', []],
    ['b', [h('u', { key: 'u' })]],
  ] as const) {
    const earlier = asked;
    const expected = await piped(stock, page(value, ...before));
    const own = asked - earlier;
    assert.equal(await piped(sluice, page(value, ...before)), expected);
    assert.equal(asked - earlier, 2 * own, `${value} was asked for`);
  }
  const earlier = asked;
  await piped(sluice, page('a'));
  assert.equal(asked, earlier);
});

void test('what it put into the document comes back', async () => {
  sluice.purge();
  const Asks = (): ReactNode => {
    ReactDOM.preload('/late.png', { as: 'image', fetchPriority: 'high' });
    return h('title', null, 'late');
  };
  const page = (asks: Asks): ReactNode => h('main', null, kept(h(Waits, { asks }, h(Asks))));
  await piped(sluice, page(comes));
  assert.equal(await piped(sluice, page(comes)), await piped(stock, page(isThere)));
});

const never: Record<string, ReactNode> = {
  'more than what waits': [h(Waits, { asks: comes, key: 'a' }), h('p', { key: 'b' })],
  'something before what waits': [h('p', { key: 'b' }), h(Waits, { asks: comes, key: 'a' })],
  'two that wait': [h(Waits, { asks: comes, key: 'a' }), h(Waits, { asks: comes, key: 'b' })],
  'an element around what waits': h('div', null, h(Waits, { asks: comes })),
  'a boundary': boundary(h(Waits, { asks: comes })),
  'a boundary behind the wait': h(Waits, { asks: comes }, boundary('text')),
  'what waits behind the wait': h(Waits, { asks: comes }, h(Waits, { asks: comes })),
  'an action behind the wait': h(Waits, { asks: comes }, h('form', { action: () => undefined })),
};

for (const [name, content] of Object.entries(never)) {
  void test(`not kept, and as it would be without: ${name}`, async () => {
    sluice.purge();
    const page = h('main', null, 'a', boundary('b', kept(content), 'c'), 'd');
    const expected = await piped(stock, page);
    for (let time = 0; time < 2; time += 1) assert.equal(await piped(sluice, page), expected);
    assert.equal(sluice.cacheStatistics().entries, 0);
  });
}

void test('what is rejected, or purged or given up meanwhile, is not kept', async () => {
  sluice.purge();
  const rejects: Asks = () => new Promise((_, reject) => void setImmediate(() => reject(new Error('no'))));
  const purges: Asks = () => comes().finally(() => sluice.purge());
  for (const asks of [rejects, purges]) {
    const page = h('main', null, boundary(kept(h(Waits, { asks }))));
    assert.equal(await piped(sluice, page), await piped(stock, page));
    assert.equal(sluice.cacheStatistics().entries, 0);
  }
  const never = (): Promise<string> => new Promise(() => undefined);
  for (const renderer of [stock, sluice]) {
    const stream = renderer.renderToPipeableStream(boundary(kept(h(Waits, { asks: never }))), {
      onError: () => undefined,
    });
    await new Promise(setImmediate);
    stream.abort(new Error('given up'));
  }
  assert.equal(sluice.cacheStatistics().entries, 0);
});

void test('two pages that wait for it at the same time', async () => {
  sluice.purge();
  const page = h('main', null, boundary(kept(h(Waits, { asks: comes }))));
  const expected = await piped(stock, page);
  assert.deepEqual(await Promise.all([piped(sluice, page), piped(sluice, page)]), [expected, expected]);
  assert.equal(sluice.cacheStatistics().entries, 1);
});

// Random pages -----------------------------------------------------------------------------------------------------

type Tree =
  | { type: 'text'; text: string }
  | { type: 'reads' | 'ids' }
  | { type: 'element' | 'boundary'; children: Tree[] }
  | { type: 'provides'; value: string; children: Tree[] }
  | { type: 'waits'; child: Tree }
  | { type: 'kept'; at: number };

interface Held {
  awaits: boolean;
  trees: Tree[];
}

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
    case 'waits': {
      const Late = (): ReactNode => [use(comes()), nodeOf(tree.child, library)][1];
      return h(Late, { key });
    }
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
    { weight: 3, arbitrary: fc.record({ type: fc.constant('waits'), child: tie('tree') }) },
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
    { numRuns: runs, seed: Number(process.env['SLUICE_REACT_SEED'] ?? Date.now() | 0) },
  );
  const { hits } = sluice.cacheStatistics();
  assert.ok(hits - before.hits > runs, `${hits} hits`);
});
