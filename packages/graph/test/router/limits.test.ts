// Hostile requests: the work is bounded, and the error has a code.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Router, type RouteDefinition, type RouterOptions } from '../../src/router/index.js';
import type { Envelope, PathSet } from '../../src/types.js';
import { read, sent, sourceOf } from './support.js';

const ref = (...value: readonly unknown[]): object => ({ $type: 'ref', value });

/** Router of a route for all keys, which counts the calls of its handler and the keys that it is called for. */
function counted(options: RouterOptions<unknown> = {}): {
  router: Router;
  counts: { calls: number; keys: number };
} {
  const counts = { calls: 0, keys: 0 };
  const router = new Router(
    [
      {
        route: '[{keys:first}][{keys:second}]',
        get: (match) => {
          counts.calls++;
          counts.keys += (match['first'] as unknown[]).length * (match['second'] as unknown[]).length;
        },
      },
    ],
    options,
  );
  return { router, counts };
}

const tooMany: Record<string, unknown> = {
  'a range of 10⁹ keys': [['a', { to: 1e9 }]],
  'a product of small ranges': [Array.from({ length: 20 }, () => ({ to: 9 }))],
  'a product that no number holds': [Array.from({ length: 64 }, () => ({ to: Number.MAX_SAFE_INTEGER - 1 }))],
  'many path sets': Array.from({ length: 10_001 }, (_, key) => ['a', key]),
  'many ranges in one key set': [['a', Array.from({ length: 10 }, () => ({ to: 1_999 }))]],
};
for (const [name, paths] of Object.entries(tooMany)) {
  void test(`too many paths are counted, and not expanded: ${name}`, async () => {
    const { router, counts } = counted();
    await assert.rejects(router.get(paths as PathSet[]), { code: 'SLU-GRAPH-PATHS', statusCode: 413 });
    await assert.rejects(router.set({ jsonGraph: {}, paths: paths as PathSet[] }), {
      code: 'SLU-GRAPH-PATHS',
    });
    await assert.rejects(router.call(['a', 'b'], [], [], paths as PathSet[]), { code: 'SLU-GRAPH-PATHS' });
    const parts = router.stream(paths as PathSet[])[Symbol.asyncIterator]();
    await assert.rejects(parts.next(), { code: 'SLU-GRAPH-PATHS' });
    assert.equal(counts.calls, 0);
  });
}

const malformed: Record<string, unknown> = {
  'no list': { 0: ['a'] },
  'text instead of a path': ['a.b'],
  'an empty path': [[]],
  'lists in lists': [['a', [['b']]]],
  'a range without an end': [['a', { from: 0 }]],
  'a range of text': [['a', { from: '0', to: '9' }]],
  'a range of fractions': [['a', { from: 0.5, to: 2 }]],
  'a range to infinity': [['a', { from: 0, to: Infinity }]],
  'nothing as a key': [['a', undefined]],
  'a function as a key': [['a', () => 'b']],
  'the key that marks values': [['a', '$type']],
};
for (const [name, paths] of Object.entries(malformed)) {
  void test(`malformed paths are refused: ${name}`, async () => {
    const { router, counts } = counted();
    await assert.rejects(router.get(paths as PathSet[]), { code: 'SLU-GRAPH-INVALID', statusCode: 400 });
    assert.equal(counts.calls, 0);
  });
}

void test('deep paths count more than once, as their answers are larger', async () => {
  const { router } = counted();
  const deep = (steps: number, to: number): PathSet => [
    { to },
    ...Array.from({ length: steps - 1 }, () => 'a'),
  ];
  await assert.rejects(router.get([deep(21, 3_333)]), { code: 'SLU-GRAPH-PATHS' });
  await router.get([deep(20, 4_999)]);
  await router.get([deep(10, 9_999)]);
});

void test('paths that are too deep are refused', async () => {
  const { router } = counted();
  await assert.rejects(router.get([Array.from({ length: 65 }, () => 'a')]), { code: 'SLU-GRAPH-DEPTH' });
  await assert.rejects(router.call(Array.from({ length: 65 }, () => 'a')), { code: 'SLU-GRAPH-DEPTH' });
});

void test('empty key sets stand for no path, however many keys are beside them', async () => {
  const { router, counts } = counted();
  const none: PathSet[] = [
    [{ to: 1e9 }, []],
    ['a', { from: 5, to: 4 }],
    ['a', { length: 0 }],
    [{ to: Number.MAX_SAFE_INTEGER - 1 }, { to: Number.MAX_SAFE_INTEGER - 1 }, { from: 1, to: 0 }],
  ];
  assert.deepEqual(sent(await router.get(none)), {});
  assert.equal(counts.calls, 0);
});

void test('a key that stands in a request ten thousand times is asked for once', async () => {
  const { router, counts } = counted();
  await router.get(Array.from({ length: 9_000 }, () => ['a', ['b', 'b']]).slice(0, 5_000));
  assert.deepEqual(counts, { calls: 1, keys: 1 });
});

void test('path sets that make no product are bounded by the calls that they need', async () => {
  const { router, counts } = counted();
  const paths = Array.from({ length: 9_000 }, (_, key) => [`a${key}`, `b${key}`]);
  await assert.rejects(router.get(paths), { code: 'SLU-GRAPH-CALLS', statusCode: 413 });
  assert.ok(counts.calls <= 1_000);
  const few = counted();
  await few.router.get(paths.slice(0, 900));
  assert.deepEqual(few.counts, { calls: 900, keys: 900 });
});

void test('path sets that overlap in every way are asked for once each path', async () => {
  const { router, counts } = counted();
  const paths = Array.from({ length: 60 }, (_, at): PathSet => [
    { from: at, to: at + 5 },
    { from: at * 2, to: at * 2 + 7 },
  ]);
  await router.get(paths);
  const single = new Set<string>();
  for (let at = 0; at < 60; at++)
    for (let one = at; one <= at + 5; one++)
      for (let two = at * 2; two <= at * 2 + 7; two++) single.add(`${one}/${two}`);
  assert.equal(counts.keys, single.size);
});

void test('keys that objects have by themselves are keys like others', async () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'length'];
  const routes: RouteDefinition[] = [
    { route: 'data[{keys}]', get: () => ({ jsonGraph: { data: { own: 1 } } }) },
    { route: 'list[{keys}]', get: () => ({ jsonGraph: { list: ['zero'] } }) },
    {
      route: 'echo[{keys:names}]',
      get: (match) => ({ path: ['echo', match['names'] as string[]], value: 'e' }),
    },
  ];
  const router = new Router(routes);
  const graph = sent(
    await router.get([['data', names, 'constructor'], ['list', [...names, 0]], ['echo', names], names]),
  );
  for (const name of names) {
    assert.equal(read(graph, ['data', name, 'constructor']), undefined, name);
    assert.equal(read(graph, ['list', name]), undefined, name);
    assert.equal(read(graph, ['echo', name]), 'e', name);
  }
  assert.equal(read(graph, ['list', 0]), 'zero');
  const values = JSON.parse(
    '{"echo": {"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}}',
  ) as object;
  await router.set({
    jsonGraph: values as Envelope['jsonGraph'],
    paths: [
      ['echo', names],
      ['echo', '__proto__', 'polluted'],
    ],
  });
  assert.equal(({} as { readonly polluted?: boolean }).polluted, undefined);
});

const loops: Record<string, RouteDefinition[]> = {
  'a reference to itself': [{ route: 'a', get: () => ({ path: ['a'], value: ref('a') }) }],
  'references to each other': [
    { route: 'a', get: () => ({ path: ['a'], value: ref('b') }) },
    { route: 'b', get: () => ({ path: ['b'], value: ref('a') }) },
  ],
  'a path that grows': [{ route: 'a', get: () => ({ path: ['a'], value: ref('a', 'x', 'y') }) }],
  'ever new places': [
    { route: 'a', get: () => ({ path: ['a'], value: ref('n', 0) }) },
    {
      route: 'n[{integers:places}]',
      get: (match) =>
        (match['places'] as number[]).map((at) => ({ path: ['n', at], value: ref('n', at + 1) })),
    },
  ],
};
for (const [name, routes] of Object.entries(loops)) {
  void test(`references without end become an error, and others have their values: ${name}`, async () => {
    let calls = 0;
    const router = new Router([...routes, { route: 'fine', get: () => ({ path: ['fine'], value: 1 }) }], {
      onRoute: () => calls++,
    });
    const graph = sent(await router.get([['a', 'z'], ['fine']]));
    assert.equal(read(graph, ['fine']), 1);
    assert.equal((read(graph, ['a', 'z']) as { value: { code: string } }).value.code, 'SLU-GRAPH-REFERENCES');
    assert.ok(calls <= 60, `${calls} calls`);
    const parts: unknown[] = [];
    for await (const part of router.stream([['a', 'z']])) parts.push(part);
    assert.match(JSON.stringify(parts), /SLU-GRAPH-REFERENCES/);
    await assert.rejects(router.call(['a', 'push']), { code: 'SLU-GRAPH-CALL-UNKNOWN' });
    const set = await router.set({ jsonGraph: { a: { z: 1 } }, paths: [['a', 'z']] });
    assert.match(JSON.stringify(set), /SLU-GRAPH-REFERENCES/);
  });
}

void test("references in a client's own graph are bounded too", async () => {
  const router = new Router([{ route: 'a.z', set: () => undefined }]);
  const loop = { a: ref('b'), b: ref('a') } as unknown as Envelope['jsonGraph'];
  const graph = sent(await router.set({ jsonGraph: loop, paths: [['a', 'z']] }));
  assert.equal(read(graph, ['a', 'z']), undefined);
});

void test('the references and functions of a data source are bounded', async () => {
  const router = new Router([], { unhandled: sourceOf({ a: ref('b'), b: ref('a') }) });
  const graph = sent(await router.get([['a', 'z']]));
  assert.equal((read(graph, ['a', 'z']) as { value: { code: string } }).value.code, 'SLU-GRAPH-REFERENCES');
});

void test('a request that takes too long gives what has come, and an error for the rest', async () => {
  const signals: AbortSignal[] = [];
  const late: (() => void)[] = [];
  const never = (text: string): RouteDefinition => ({
    route: text,
    get: (match, { signal }) => {
      signals.push(signal);
      return new Promise((resolve) => {
        late.push(() => resolve({ path: match as unknown as PathSet, value: 'too late' }));
      });
    },
  });
  const router = new Router(
    [
      { route: 'fast[{keys:ids}]', get: (match) => ({ path: match as unknown as PathSet, value: 1 }) },
      {
        route: 'list[{keys:ids}]',
        get: (match) => ({ path: match as unknown as PathSet, value: ref('slow', 'x') }),
      },
      never('slow[{keys}][{keys}]'),
      never('held'),
    ],
    { timeoutMs: 20 },
  );
  const paths: PathSet[] = [['fast', [1, 2]], ['list', [0, 1], ['p', 'q']], ['held']];
  const answer = await router.get(paths);
  for (const release of late) release();
  await turn();
  const graph = sent(answer);
  assert.equal(read(graph, ['fast', 2]), 1);
  for (const path of [['list', 0, 'p'], ['list', 1, 'q'], ['held']])
    assert.equal(
      (read(graph, path) as { value: { code: string } }).value.code,
      'SLU-GRAPH-TIME',
      path.join(),
    );
  assert.ok(signals.length === 2 && signals.every((signal) => signal.aborted));
  const parts: unknown[] = [];
  for await (const part of router.stream(paths)) parts.push(part);
  assert.match(JSON.stringify(parts), /"fast".*SLU-GRAPH-TIME/s);
  await assert.rejects(router.call(['held', 'push']), { code: 'SLU-GRAPH-TIME', statusCode: 504 });
});

void test('a function that takes too long is ended', async () => {
  const router = new Router([{ route: 'push', call: () => new Promise(() => undefined) }], { timeoutMs: 20 });
  await assert.rejects(router.call(['push']), { code: 'SLU-GRAPH-TIME' });
});

void test('a client that leaves ends its request, and handlers are told', async () => {
  const signals: AbortSignal[] = [];
  let calls = 0;
  const router = new Router([
    {
      route: 'slow',
      get: async (_match, { signal }) => {
        signals.push(signal);
        await turn();
        await turn();
        return { path: ['slow'], value: ref('next') };
      },
    },
    { route: 'next.name', get: () => void calls++ },
  ]);
  const client = new AbortController();
  const answer = router.get([['slow', 'name']], { signal: client.signal });
  client.abort(new Error('left'));
  await assert.rejects(answer, /left/);
  for (let at = 0; at < 5; at++) await turn();
  assert.equal(signals[0]?.aborted, true);
  assert.equal(calls, 0);
  await assert.rejects(router.get([['slow']], { signal: AbortSignal.abort(new Error('before')) }), /before/);

  const parts = router.stream([['slow', 'name']])[Symbol.asyncIterator]();
  const first = parts.next();
  await parts.return?.();
  await first.catch(() => undefined);
  assert.equal(calls, 0);
});

void test('a client that leaves between the steps of a call ends it', async () => {
  for (const step of ['authorize', 'call'] as const) {
    const client = new AbortController();
    let calls = 0;
    const router = new Router([
      {
        route: 'push',
        authorize: async () => {
          if (step === 'authorize') client.abort(new Error('left'));
          return Promise.resolve(true);
        },
        call: () => {
          calls++;
          client.abort(new Error('left'));
          return Promise.reject(new Error('late'));
        },
      },
    ]);
    await assert.rejects(router.call(['push'], [], [], [], { signal: client.signal }), /left/);
    assert.equal(calls, step === 'call' ? 1 : 0);
  }
});

void test('bounds are whole numbers', () => {
  for (const value of [0, -1, 1.5, Number.NaN])
    assert.throws(() => new Router([], { pathsMax: value }), RangeError);
});
