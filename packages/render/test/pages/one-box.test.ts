// The data of one hole: what is asked for it, and what the public address says where there is none.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import * as fc from 'fast-check';
import { seed } from '../../../../tests/support/chance.js';
import { pathOf } from '../../src/http/answer.js';
import { createServer } from '../../src/http/handler.js';
import type { Handler } from '../../src/http/node.js';
import { respondBox } from '../../src/pages/http.js';
import { createPages } from '../../src/pages/pages.js';
import type { FunctionSource, PageTree, TreeNode } from '../../src/pages/tree.js';
import { wayTo } from '../../src/pages/way.js';
import { hostiles } from '../support/hostile.js';
import { listen } from '../support/server.js';
import { boxesIn, registryForTests, statesIn, textOf } from './support.js';

interface Asked {
  readonly get: (id: string) => Promise<{ readonly status: number; readonly text: string }>;
  /** Sources that ran, and `input` for the app's own data. */
  readonly ran: () => readonly string[];
}

async function asked(t: TestContext, tree: PageTree): Promise<Asked> {
  let ran: string[] = [];
  const note = (name: string, value: unknown) => (): unknown => {
    ran.push(name);
    return value;
  };
  const pages = createPages({
    registry: registryForTests(),
    onError: () => {},
    sources: {
      functions: {
        list: note('list', [{ n: 1 }, { n: 2 }]),
        user: note('user', { name: 'Ada' }),
        flag: note('flag', true),
        unrelated: note('unrelated', 1),
        late: async () => {
          note('late', undefined)();
          await new Promise(() => undefined);
        },
        broken: () => {
          throw new Error('secret.internal is down');
        },
      },
    },
  });
  const input = note('input', { own: 1 }) as () => Readonly<Record<string, unknown>>;
  const origin = await listen(
    t,
    createServer(async (request, response) => {
      await respondBox(pages, request, response, tree, input);
      return true;
    }),
  );
  return {
    async get(id) {
      ran = [];
      const response = await fetch(`${origin}/more?box=${encodeURIComponent(id)}`);
      return { status: response.status, text: await response.text() };
    },
    ran: () => ran.toSorted(),
  };
}

const source = (name: string, more: Omit<FunctionSource, 'source'> = {}): FunctionSource => ({
  source: name,
  ...more,
});

const tree: PageTree = {
  data: {
    list: source('list'),
    user: source('user'),
    unrelated: source('unrelated'),
    flag: source('flag'),
    late: source('late', { timeoutMs: 20, default: 'none' }),
  },
  boxes: [
    { component: 'Text', props: { title: { $path: '$.user.name' } } },
    {
      component: 'Frame',
      each: '$.list',
      data: { node: source('unrelated') },
      props: { all: { $path: '$.late' } },
      slots: {
        main: [
          { component: 'Text', if: { exists: '$.flag' }, props: { title: { $path: '@.n' } } },
          {
            component: 'Text',
            id: 'named',
            data: { mine: source('user', { args: { $path: '$.flag' } }) },
            props: { title: { $path: '$.mine.name' } },
          },
        ],
      },
    },
    { component: 'Text', data: { user: source('unrelated') }, props: { title: { $path: '$.user' } } },
    { component: 'Text', props: { $path: '$' } },
    { component: 'Static', props: { title: { $path: '$.user.name' } } },
    { component: 'Nobody', props: { title: { $path: '$.user.name' } } },
  ],
};

test('only what a box needs is asked for it', async (t) => {
  const { get, ran } = await asked(t, tree);
  for (const [id, props, sources] of [
    ['b0', { title: 'Ada' }, ['input', 'user']],
    ['b1-1-0', { title: 2 }, ['flag', 'input', 'list']],
    ['named-0', { title: 'Ada' }, ['flag', 'input', 'list', 'user']],
    ['b1-0', { all: 'none' }, ['input', 'late', 'list']],
    ['b2', { title: 1 }, ['input', 'unrelated']],
  ] as const) {
    const { status, text } = await get(id);
    assert.equal(status, 200, `${id}: ${text}`);
    assert.deepEqual(JSON.parse((JSON.parse(text) as { readonly props: string }).props), props, id);
    assert.deepEqual(ran(), sources, id);
  }
  assert.equal((await get('b3')).status, 200);
  assert.deepEqual(ran(), ['flag', 'input', 'late', 'list', 'unrelated', 'user']);
});

test('for a box that there is not, or that is not for browsers, nothing is asked', async (t) => {
  const { get, ran } = await asked(t, tree);
  const ids = [
    'b4',
    'b5',
    'b9',
    '',
    'page',
    'constructor',
    '__proto__',
    'b',
    'b00',
    'b0-0',
    'b1',
    'b1-',
    'b1-0-9',
  ];
  for (const id of [
    ...ids,
    'b1--0',
    'b1-01-0',
    'b1-1e3',
    'named',
    'named-0-0',
    'b1-0-1',
    `b0${'-0'.repeat(5_000)}`,
  ]) {
    assert.equal((await get(id)).status, 404, id);
    assert.deepEqual(ran(), [], id);
  }
  // Whether there is such an item is the data's to say.
  assert.equal((await get('b1-2')).status, 404);
  assert.deepEqual(ran(), ['input', 'late', 'list']);
});

test('data that is late is 504 and data that did not come 502, and neither says why', async (t) => {
  const late = source('late', { timeoutMs: 20 });
  const title = { $path: '$.x' };
  const { get } = await asked(t, {
    data: { x: source('broken') },
    boxes: [
      { component: 'Text', data: { x: late }, props: { title } },
      { component: 'Frame', if: { exists: '$.x' }, slots: { main: [{ component: 'Text' }] } },
      { component: 'Text', props: { title } },
      { component: 'Text', props: { title: { $path: '$.own' } } },
    ],
  });
  const statuses = [];
  for (const id of ['b0', 'b1-0', 'b2', 'b3']) {
    const { status, text } = await get(id);
    statuses.push(status);
    assert.doesNotMatch(text, /source|secret|internal/, id);
  }
  assert.deepEqual(statuses, [504, 502, 502, 200]);
});

test('an error that hurts whoever reads it ends no process: 502 from a source, 500 from data or a schema', async (t) => {
  for (const [name, create] of Object.entries(hostiles)) {
    const fail = (): never => {
      // oxlint-disable-next-line typescript/only-throw-error -- what is tried
      throw create();
    };
    const registry = registryForTests();
    registry.register('Checked', () => '', {
      props: { '~standard': { version: 1, vendor: 'x', validate: fail } },
    });
    const told: string[] = [];
    const pages = createPages({
      registry,
      onError: ({ message }) => told.push(message),
      sources: { functions: { fail } },
    });
    const boxes = [{ component: 'Text', data: { x: source('fail') }, props: { title: { $path: '$.x' } } }];
    const hurt: PageTree = { boxes: [...boxes, { component: 'Checked' }, { component: 'Text' }] };
    const handler: Handler = async (request, response) => {
      await respondBox(pages, request, response, hurt, pathOf(request) === '/data' ? fail : {});
      return true;
    };
    const origin = await listen(t, createServer(handler, { onError: () => {} }));
    const statuses = [];
    for (const path of ['/?box=b0', '/?box=b1', '/data?box=b2', '/?box=b2'])
      statuses.push((await fetch(origin + path)).status);
    assert.deepEqual(statuses, [502, 500, 500, 200], name);
    assert.equal(told.length, 3, name);
    assert.ok(
      told.every((message) => message.length < 11_000),
      name,
    );
  }
});

const nodes: fc.Memo<TreeNode[]> = fc.memo(
  (depth) =>
    fc.array(
      fc.record(
        {
          component: fc.constantFrom('Text', 'Frame', 'Frame'),
          id: fc.constantFrom('one', 'two', 'three', 'four'),
          each: fc.constantFrom('$.list', '$.list', '@.inner', '$.nothing'),
          if: fc.constantFrom({ exists: '$.list' }, { exists: '@.inner' }, { exists: '$.nothing' }),
          data: fc.constantFrom({ list: source('list') }, { more: source('list') }),
          props: fc.constantFrom(
            { title: { $path: '@.n' } },
            { title: { $path: '$.more[0].n' } },
            { $path: '@' },
          ),
          slots: depth > 1 ? fc.record({ main: nodes(depth - 1), aside: nodes(depth - 1) }) : fc.constant({}),
        },
        { requiredKeys: ['component'] },
      ),
      { maxLength: 3 },
    ) as fc.Arbitrary<TreeNode[]>,
);

test('each box of a page is found by its id with the props that are in the page, and no other id is', async () => {
  const items = [{ n: 1, inner: [{ n: 2 }, { n: 3 }] }, { n: 4 }];
  const pages = createPages({
    registry: registryForTests(),
    onError: () => {},
    sources: { functions: { list: () => items } },
  });
  let found = 0;
  await fc.assert(
    fc.asyncProperty(nodes(3), async (boxes) => {
      const used = new Set<string>();
      const unique = (list: readonly TreeNode[]): TreeNode[] =>
        list.map(({ id, slots, ...node }) => {
          const isFree = id !== undefined && !used.has(id);
          if (isFree) used.add(id);
          const inner = Object.entries(slots ?? {}).map(([name, each]) => [name, unique(each)] as const);
          return { ...node, ...(isFree ? { id } : {}), slots: Object.fromEntries(inner) };
        });
      const made = { boxes: unique(boxes) };
      const html = await textOf(await pages.render(made, { list: items }));
      const states = statesIn(html);
      for (const { id, hole } of boxesIn(html)) {
        if (hole !== undefined) continue;
        found += 1;
        assert.deepEqual(await pages.renderBox(made, id, { list: items }), { props: states.get(id) }, id);
        assert.equal(await pages.renderBox(made, `${id}-7`, { list: items }), undefined);
      }
    }),
    { seed, numRuns: 300 },
  );
  assert.ok(found > 500, `${found} boxes`);
});

test('whatever is asked as an id, the way to it is found or there is none', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('b', '0', '1', '-', 'n') })),
      (id) => {
        const way = wayTo(tree.boxes, id);
        assert.ok(way === undefined || way.length > 0);
      },
    ),
    { seed, numRuns: 2_000 },
  );
});
