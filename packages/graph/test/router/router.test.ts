// Routes: what handlers are called with, what they may give, and what clients get of errors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import {
  route,
  RouteError,
  Router,
  type RouteDefinition,
  type RouteEvent,
  type RouterOptions,
} from '../../src/router/index.js';
import type { Envelope, PathSet } from '../../src/types.js';
import { read, sent, sourceOf, type Path } from './support.js';

const ref = (...value: Path): object => ({ $type: 'ref', value });
const denied = { $type: 'error', value: { message: 'Not allowed', code: 'SLU-GRAPH-DENIED', status: 403 } };
const failed = {
  $type: 'error',
  value: { message: 'Internal error', code: 'SLU-GRAPH-HANDLER', status: 500 },
};

/** Lists of references to titles, and what the handlers were called with. */
function catalogue(calls: unknown[], { fields = '["name", "year"]' } = {}): RouteDefinition[] {
  return [
    route('lists[{keys:names}][{integers:places}]', {
      async get({ names, places }) {
        calls.push(['lists', names, places]);
        await turn();
        return names.flatMap((name) =>
          places.map((place) => ({ path: ['lists', name, place], value: ref('titlesById', 100 + place) })),
        );
      },
    }),
    {
      route: `titlesById[{integers:ids}]${fields}`,
      get(match) {
        const ids = match['ids'] as number[];
        calls.push(['titles', ids, match[2]]);
        return {
          jsonGraph: {
            titlesById: Object.fromEntries(ids.map((id) => [id, { name: `title ${id}`, year: 1900 + id }])),
          },
        };
      },
    },
  ];
}

async function got(
  routes: readonly RouteDefinition[],
  paths: readonly PathSet[],
  options: RouterOptions<unknown> = {},
): Promise<unknown> {
  return sent(await new Router(routes, options).get(paths));
}

void test('a route is called once for all keys, and once for all references of a level', async () => {
  const calls: unknown[] = [];
  const graph = await got(catalogue(calls), [
    ['lists', ['mine', 'other'], { to: 2 }, 'name'],
    ['lists', ['mine', 'other'], { to: 2 }, 'year'],
    ['lists', 'mine', { from: 1, length: 2 }, 'name'],
  ]);
  assert.deepEqual(calls, [
    ['lists', ['mine', 'other'], [0, 1, 2]],
    ['titles', [100, 101, 102], ['name', 'year']],
  ]);
  assert.equal(read(graph, ['lists', 'other', 2, 'name']), 'title 102');
  assert.equal(read(graph, ['lists', 'mine', 0, 'year']), 2000);
});

void test('a level waits for its references, and not for values that no path goes through', async () => {
  const order: string[] = [];
  let release: (() => void) | undefined;
  const routes: RouteDefinition[] = [
    { route: 'list', get: () => ({ path: ['list'], value: ref('target') }) },
    {
      route: 'target.name',
      get: () => {
        order.push('target');
        release?.();
        return { path: ['target', 'name'], value: 'n' };
      },
    },
    {
      route: 'slow',
      get: async () => {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        order.push('slow');
        return { path: ['slow'], value: 's' };
      },
    },
  ];
  const graph = await got(routes, [['slow'], ['list', 'name']]);
  assert.deepEqual(order, ['target', 'slow']);
  assert.equal(read(graph, ['slow']), 's');
});

void test('paths that are being fetched are waited for, and not asked again', async () => {
  let calls = 0;
  let release: (() => void) | undefined;
  const routes: RouteDefinition[] = [
    { route: 'list', get: () => ({ path: ['list'], value: ref('slow') }) },
    { route: 'slow.other', get: () => release?.() },
    {
      route: 'slow.value',
      get: async () => {
        calls++;
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return { path: ['slow', 'value'], value: 's' };
      },
    },
  ];
  const graph = await got(routes, [
    ['slow', 'value'],
    ['list', ['value', 'other']],
  ]);
  assert.equal(calls, 1);
  assert.equal(read(graph, ['list', 'value']), 's');
});

void test('the longest route answers a path, then literal keys precede integers, and those any keys', async () => {
  const named = (text: string): RouteDefinition => ({
    route: text,
    get: (match) => ({ path: match as unknown as PathSet, value: text }),
  });
  const texts = ['a[{keys}]', 'a[{integers}]', 'a[1]', 'a.b.c', 'a[{keys}].d', '[{keys}]'];
  const graph = await got(texts.map(named), [
    ['a', ['b', 5, 1, '01']],
    ['a', ['b', 1], ['c', 'd', 'e']],
    ['z', 'y'],
  ]);
  const expected: [Path, string][] = [
    [['a', '01'], 'a[{keys}]'],
    [['a', 5], 'a[{integers}]'],
    [['z', 'y'], '[{keys}]'],
  ];
  for (const [path, text] of expected) assert.equal(read(graph, path), text, path.join('.'));
  const deep = await got(texts.map(named), [['a', ['b', 1], ['c', 'd', 'e']]]);
  assert.equal(read(deep, ['a', 'b', 'c']), 'a.b.c');
  assert.equal(read(deep, ['a', 'b', 'd']), 'a[{keys}].d');
  assert.equal(read(deep, ['a', 1, 'c']), 'a[1]');
  assert.equal(read(deep, ['a', 1, 'd']), 'a[{keys}].d');
});

void test('handlers get ranges, keys and lists by place and by name', async () => {
  const calls: unknown[] = [];
  const routes: RouteDefinition[] = [
    {
      route: 'a[{ranges:rows}][{keys:columns}]["x","y"][0..1].z',
      get: (match) => {
        calls.push([...match], match['rows'], match['columns']);
      },
    },
  ];
  await got(routes, [['a', [3, 1, { from: 5, to: 6 }, 2], ['k', 7], 'x', { to: 1 }, 'z']]);
  const rows = [
    { from: 1, to: 3 },
    { from: 5, to: 6 },
  ];
  assert.deepEqual(calls, [['a', rows, ['k', 7], ['x'], [0, 1], 'z'], rows, ['k', 7]]);
});

void test('routes that nobody can tell apart, and malformed ones, are refused', () => {
  const get = (): undefined => undefined;
  assert.throws(
    () =>
      new Router([
        { route: 'a[{integers}]', get },
        { route: 'a[{ranges}]', get },
      ]),
    /same paths/,
  );
  assert.throws(
    () =>
      new Router([
        { route: 'a["b","c"]', get },
        { route: 'a.c', get },
      ]),
    /same paths/,
  );
  assert.throws(() => new Router([{ route: 'a[{integers:length}]', get }]), /name/);
  assert.throws(() => new Router([{ route: 'a[', get }]), /path/);
  assert.throws(() => new Router([{ route: '', get }]), /step/);
  assert.throws(() => new Router([{ route: 'a[0..100000]', get }]), /range/);
  assert.throws(() => new Router([{ route: 'a' }]), /no get/);
  assert.doesNotThrow(
    () =>
      new Router([
        { route: 'a', get },
        { route: 'a', set: get },
      ]),
  );
});

void test('values of paths that nobody asked for are dropped and reported', async () => {
  const errors: unknown[] = [];
  const routes: RouteDefinition[] = [
    {
      route: 'users[{keys}].name',
      get: () => [
        { path: ['users', 'ann', 'name'], value: 'Ann' },
        { path: ['users', 'bob', 'name'], value: 'Bob' },
        { path: ['users', 'ann', 'password'], value: 'secret' },
        { jsonGraph: { users: { ann: { password: 'secret' }, bob: { name: 'Bob' } } } },
      ],
    },
  ];
  const router = new Router(routes, { onError: (error) => errors.push((error as RouteError).code) });
  const graph = sent(await router.get([['users', 'ann', ['name', 'password']]]));
  assert.deepEqual(graph, { users: { ann: { name: 'Ann', password: { $type: 'atom' } } } });
  assert.deepEqual(errors, ['SLU-GRAPH-ASTRAY']);
  assert.equal(router.stats()[0]?.failures, 1);
});

void test('errors of handlers reach the paths that have no value, without message or stack', async () => {
  const errors: unknown[] = [];
  const routes: RouteDefinition[] = [
    {
      route: 'a[{keys}]',
      async *get() {
        await turn();
        yield { path: ['a', 'first'], value: 1 };
        throw new Error('password of the database');
      },
    },
    {
      route: 'told',
      get: () => {
        throw new RouteError('Sold out', { statusCode: 409, code: 'SOLD' });
      },
    },
    { route: 'rejects', get: () => Promise.reject(new Error('hidden')) },
    { route: 'odd', get: () => ({ path: ['odd'], value: 1n }) },
    { route: 'nothing', get: () => 5 as never },
    { route: 'badref', get: () => ({ path: ['badref'], value: { $type: 'ref', value: [['x']] } }) },
  ];
  const names = ['told', 'rejects', 'odd', 'nothing', 'badref'];
  const router = new Router(routes, { onError: (error) => errors.push(error) });
  const graph = sent(
    await router.get([['a', ['first', 'second'], 'below'], ['a', 'first'], [names]]),
  ) as object;
  assert.doesNotMatch(JSON.stringify(graph), /password|hidden|router\.test/);
  assert.equal(read(graph, ['a', 'first']), 1);
  assert.deepEqual(read(graph, ['a', 'second', 'below']), failed);
  assert.deepEqual(read(graph, ['rejects']), failed);
  assert.deepEqual(read(graph, ['told']), {
    $type: 'error',
    value: { message: 'Sold out', code: 'SOLD', status: 409 },
  });
  for (const name of ['odd', 'nothing', 'badref']) assert.equal(read(graph, [name]), undefined, name);
  assert.equal(errors.length, 6);
});

void test('an onError or onRoute that throws ends no request', async () => {
  const log = console.error;
  console.error = () => undefined;
  try {
    const routes: RouteDefinition[] = [
      {
        route: 'a',
        get: () => {
          throw new Error('a');
        },
      },
    ];
    const fails = (): never => {
      throw new Error('again');
    };
    assert.deepEqual(await got(routes, [['a']], { onError: fails, onRoute: fails }), { a: failed });
  } finally {
    console.error = log;
  }
});

void test('denied paths get an error, and handlers cannot write them', async () => {
  const calls: unknown[] = [];
  const routes: RouteDefinition[] = [
    route('users[{keys:names}]["mail","name"]', {
      get({ names }) {
        calls.push(names);
        // All users, whoever was asked for.
        return ['ann', 'bob', 'eve'].flatMap((name) => [
          { path: ['users', name], value: { secret: name } },
          { path: ['users', name, ['mail', 'name']], value: `${name}@` },
          { jsonGraph: { users: { [name]: { mail: `${name}@`, name } } } },
        ]);
      },
      authorize: async ({ names }) => {
        await turn();
        return names.length > 5 ? false : ([, name]) => name === 'ann';
      },
    }),
    { route: 'closed', get: () => ({ path: ['closed'], value: 'secret' }), authorize: () => false },
    // A promise is no permission.
    {
      route: 'promised',
      get: () => ({ path: ['promised'], value: 'secret' }),
      authorize: () => (async () => true) as never,
    },
    {
      route: 'broken',
      get: () => ({ path: ['broken'], value: 'secret' }),
      authorize: () => {
        throw new Error('no database');
      },
    },
    { route: 'friend', get: () => ({ path: ['friend'], value: ref('users', 'bob') }) },
  ];
  const router = new Router(routes, { onError: () => undefined });
  const graph = sent(
    await router.get([
      ['users', ['ann', 'bob', 'eve'], 'mail'],
      ['users', 'bob', 'name'],
      ['friend', ['name', 'mail']],
      [['closed', 'promised', 'broken']],
    ]),
  );
  assert.equal(read(graph, ['users', 'ann', 'mail']), 'ann@');
  for (const path of [
    ['users', 'bob', 'mail'],
    ['users', 'eve', 'mail'],
    ['friend', 'name'],
    ['closed'],
    ['promised'],
  ])
    assert.deepEqual(read(graph, path), denied, path.join('.'));
  assert.deepEqual(read(graph, ['broken']), failed);
  assert.deepEqual(calls, [['ann']]);
  assert.doesNotMatch(JSON.stringify(graph), /secret|bob@|eve@/);
});

void test('a handler writes nothing of a sibling call that is denied later', async () => {
  const routes: RouteDefinition[] = [
    {
      route: 'a[{keys}][{keys}]',
      get: () => ({ jsonGraph: { a: { x: { 1: 'open' }, y: { 2: 'secret' } } } }),
      authorize: async (match) => {
        if (JSON.stringify(match) !== '["a",["y"],[2]]') return true;
        await turn();
        await turn();
        return false;
      },
    },
  ];
  const graph = await got(routes, [
    ['a', 'x', 1],
    ['a', 'y', 2],
  ]);
  assert.deepEqual(graph, { a: { x: { 1: 'open' }, y: { 2: denied } } });
});

void test('unhandled paths go to another source, whose references lead back to routes', async () => {
  const asked: PathSet[] = [];
  const calls: unknown[] = [];
  const other = {
    menu: { 0: ref('titlesById', 7), 1: ref('pages', 'home') },
    pages: { home: { name: 'Home' } },
  };
  const graph = await got(
    catalogue(calls),
    [
      ['menu', { to: 2 }, 'name'],
      ['titlesById', 8, 'name'],
    ],
    {
      unhandled: sourceOf(other, asked),
    },
  );
  assert.equal(read(graph, ['menu', 0, 'name']), 'title 7');
  assert.equal(read(graph, ['menu', 1, 'name']), 'Home');
  assert.equal(read(graph, ['menu', 2, 'name']), undefined);
  // The answer had the page already.
  assert.deepEqual(asked, [['menu', { from: 0, to: 2 }, 'name']]);
});

void test('a source that fails gives its paths an error', async () => {
  const errors: unknown[] = [];
  const graph = await got(
    catalogue([]),
    [
      ['other', 'path'],
      ['titlesById', 8, 'name'],
    ],
    {
      unhandled: { get: () => Promise.reject(new Error('refused: 10.0.0.5')) },
      onError: (_error, { route: text }) => errors.push(text),
    },
  );
  assert.equal(read(graph, ['titlesById', 8, 'name']), 'title 8');
  assert.equal((read(graph, ['other', 'path']) as typeof denied).value.code, 'SLU-GRAPH-SOURCE');
  assert.doesNotMatch(JSON.stringify(graph), /10\.0\.0/);
  assert.deepEqual(errors, ['(unhandled)']);
});

void test('values are set through references of the router, and without a result count as sent', async () => {
  const sets: unknown[] = [];
  const routes: RouteDefinition[] = [
    ...catalogue([]),
    {
      route: 'titlesById[{integers}].rating',
      set: (values) => {
        sets.push(JSON.parse(JSON.stringify(values)));
      },
    },
    {
      route: 'titlesById[{integers}].stars',
      set: (_values, _context, match) => ({ path: match as unknown as PathSet, value: 5 }),
    },
  ];
  const router = new Router(routes);
  const list = { 0: { rating: 3, name: 'mine' }, 1: { rating: 4 } };
  const graph = sent(
    await router.set({
      jsonGraph: { lists: { mine: list }, titlesById: { 9: { stars: 11 } } },
      paths: [
        ['lists', 'mine', { to: 1 }, 'rating'],
        ['lists', 'mine', 0, 'name'],
        ['titlesById', 9, 'stars'],
      ],
    }),
  );
  assert.deepEqual(sets, [{ titlesById: { 100: { rating: 3 }, 101: { rating: 4 } } }]);
  assert.equal(read(graph, ['lists', 'mine', 1, 'rating']), 4);
  assert.equal(read(graph, ['titlesById', 9, 'stars']), 5);
  // A route that cannot set a path gives its value.
  assert.equal(read(graph, ['lists', 'mine', 0, 'name']), 'title 100');
});

void test('a call follows references to its function, and gives what the client wants of the result', async () => {
  const calls: unknown[] = [];
  const routes: RouteDefinition[] = [
    ...catalogue([]),
    { route: 'my.list', get: () => ({ path: ['my', 'list'], value: ref('lists', 'mine') }) },
    {
      route: 'lists[{keys}].push',
      call: (match, args, _context, wishes) => {
        calls.push([[...match], args, wishes]);
        return [
          { path: ['lists', 'mine', 3], value: ref('titlesById', args[0] as number) },
          { path: ['lists', 'mine', 'length'], value: 4 },
          { path: 'lists.mine.order', invalidated: true },
        ];
      },
    },
  ];
  const answer = await new Router(routes).call('my.list.push', [7], [['name'], ['year']], [[0, 'name']]);
  assert.deepEqual(calls, [
    [['lists', ['mine'], 'push'], [7], { refSuffixes: [[['name', 'year']]], thisPaths: [[0, 'name']] }],
  ]);
  const graph = sent(answer);
  assert.equal(read(graph, ['my', 'list', 3, 'name']), 'title 7');
  assert.equal(read(graph, ['my', 'list', 3, 'year']), 1907);
  assert.equal(read(graph, ['my', 'list', 0, 'name']), 'title 100');
  assert.equal(read(graph, ['lists', 'mine', 'length']), 4);
  assert.deepEqual(answer.invalidated, [['lists', 'mine', 'order']]);
  assert.deepEqual(answer.paths, [
    ['lists', 'mine', 'length'],
    ['my', 'list', 0, 'name'],
    ['my', 'list', 3, ['name', 'year']],
  ]);
});

void test('a call of nothing, of a denied function, or of one that throws, is rejected with a code', async () => {
  const errors: unknown[] = [];
  const routes: RouteDefinition[] = [
    { route: 'closed', call: () => undefined, authorize: () => false },
    { route: 'open', call: () => undefined, authorize: () => true },
    { route: 'throws', call: () => Promise.reject(new Error('secret')) },
    { route: 'graph', call: () => ({ jsonGraph: { a: 1 } }) },
    {
      route: 'tells',
      call: () => {
        throw new RouteError('Sold out', { statusCode: 409 });
      },
    },
  ];
  const router = new Router(routes, { onError: (error) => errors.push(error) });
  await assert.rejects(router.call(['other', 'function']), {
    code: 'SLU-GRAPH-CALL-UNKNOWN',
    statusCode: 404,
  });
  await assert.rejects(router.call(['closed']), { code: 'SLU-GRAPH-DENIED', statusCode: 403 });
  await assert.rejects(router.call(['throws']), { code: 'SLU-GRAPH-HANDLER', message: 'Internal error' });
  await assert.rejects(router.call(['graph']), { code: 'SLU-GRAPH-HANDLER' });
  await assert.rejects(router.call(['tells']), { message: 'Sold out', statusCode: 409 });
  await assert.rejects(router.call([['a', 'b']] as never), { code: 'SLU-GRAPH-INVALID' });
  assert.deepEqual(await router.call(['open']), { jsonGraph: {}, paths: [] });
  assert.equal(errors.length, 2);
});

void test('a call of nothing here goes to the source of unhandled paths', async () => {
  const seen: unknown[] = [];
  const answer: Envelope = { jsonGraph: { there: 1 }, paths: [['there']] };
  const router = new Router(catalogue([]), {
    unhandled: {
      get: () => Promise.reject(new Error('not asked')),
      call: async (...asked) => {
        seen.push(asked.slice(0, 4));
        return answer;
      },
    },
  });
  assert.deepEqual(await router.call(['there', 'push'], [1], [['a']], [['b']]), answer);
  assert.deepEqual(seen, [[['there', 'push'], [1], [['a']], [['b']]]]);
});

void test('loaders fetch each key once a request, and all keys of a turn by one call', async () => {
  const batches: unknown[] = [];
  const one = (text: string): RouteDefinition => ({
    route: `${text}[{integers:ids}]`,
    get: async (match, context) => {
      const ids = match['ids'] as number[];
      const values = await context.loadMany<string>('titles', ids);
      return ids.map((id, index) => ({ path: [text, id], value: values[index] }));
    },
  });
  const router = new Router([one('a'), one('b')], {
    loaders: {
      titles: async (ids: readonly number[], { data }) => {
        batches.push(ids);
        await turn();
        return new Map(ids.map((id) => [id, id === 4 ? new Error('none') : `${String(data)} ${id}`]));
      },
    },
    onError: () => undefined,
  });
  const ask = async (data: string): Promise<unknown> =>
    sent(
      await router.get(
        [
          ['a', [1, 2]],
          ['b', [2, 3]],
        ],
        { data },
      ),
    );
  const [first, second] = await Promise.all([ask('x'), ask('y')]);
  assert.deepEqual(first, { a: { 1: 'x 1', 2: 'x 2' }, b: { 2: 'x 2', 3: 'x 3' } });
  assert.equal(read(second, ['b', 2]), 'y 2');
  assert.deepEqual(batches, [
    [1, 2, 3],
    [1, 2, 3],
  ]);
  assert.deepEqual(read(sent(await router.get([['a', 4]])), ['a', 4]), failed);
});

void test('each call of a handler is counted and told', async () => {
  const events: RouteEvent[] = [];
  const routes: RouteDefinition[] = [
    ...catalogue([]),
    {
      route: 'bad',
      get: () => {
        throw new Error('bad');
      },
    },
  ];
  const router = new Router(routes, { onRoute: (event) => events.push(event), onError: () => undefined });
  await router.get([['lists', 'mine', { to: 9 }, ['name', 'year']], ['bad']]);
  await router.get([['bad']]);
  assert.deepEqual(
    events.map(({ route: text, method, error }) => [text, method, error !== undefined]),
    [
      ['bad', 'get', true],
      ['lists[{keys:names}][{integers:places}]', 'get', false],
      ['titlesById[{integers:ids}]["name", "year"]', 'get', false],
      ['bad', 'get', true],
    ],
  );
  const stats = router.stats();
  assert.deepEqual(
    stats.map(({ calls, failures }) => [calls, failures]),
    [
      [1, 0],
      [1, 0],
      [2, 2],
    ],
  );
  for (const { ms, msMax } of stats) assert.ok(ms >= msMax && msMax >= 0);
});

void test('the keys of a route are typed', () => {
  route('titlesById[{integers:ids}]["name", "year"][{ranges: rows}].x[{keys:any}]', {
    get({ ids, rows, any, 0: first, 2: fields, 4: x }) {
      const typed: [readonly number[], readonly ('name' | 'year')[], 'titlesById', 'x'] = [
        ids,
        fields,
        first,
        x,
      ];
      const spans: readonly { readonly from: number; readonly to: number }[] = rows;
      const keys: readonly (string | number)[] = any;
      // @ts-expect-error No step has this name.
      void (({ other }: { readonly ids: typeof ids }) => other);
      return void [typed, spans, keys];
    },
  });
  route('titlesById[{integers:ids}].name', {
    // @ts-expect-error The route has no such key.
    get: ({ names }) => void names,
  });
});
