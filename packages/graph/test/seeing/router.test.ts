// What a router tells of its routes: calls, paths of a call, failures, paths without a value.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { route, RouteError, Router } from '../../src/router/index.js';
import { errorText } from '../../src/seeing/host.js';
import { seen } from './support.js';

const never = new Promise<undefined>(() => undefined);
const quiet = { onError: () => undefined };

void test('calls are told with their paths, failures with their error, and paths that got nothing', async () => {
  await seen(async (receiver) => {
    const router = new Router(
      [
        route('titles[{integers:ids}]["name", "price"]', {
          get: ({ ids, 2: fields }) =>
            ids
              .filter((id) => id < 3)
              .flatMap((id) => fields.map((field) => ({ path: ['titles', id, field], value: id }))),
        }),
        route('bad', {
          get: () => {
            throw new TypeError('no such thing\n    at secret.js');
          },
        }),
        route('mine[{keys:names}]', { get: () => undefined, authorize: () => false }),
      ],
      quiet,
    );
    await router.get([
      ['titles', { to: 4 }, ['name', 'price']],
      ['bad'],
      ['mine', 'a'],
      ['nobody', ['a', 'b']],
    ]);
    assert.deepEqual(receiver.routes(), {
      'get titles[{integers:ids}]["name", "price"]': { calls: 1, paths: 10, unanswered: 4 },
      'get bad': { calls: 1, paths: 1, failures: 1, error: 'TypeError: no such thing' },
      'get mine[{keys:names}]': { denied: 1 },
      'get (unhandled)': { unanswered: 2 },
    });
    const [titles, bad] = router.stats();
    assert.deepEqual([titles?.paths, titles?.unanswered, bad?.failures, bad?.unanswered], [10, 4, 1, 0]);
  });
});

void test('paths behind a reference that leads nowhere count once', async () => {
  await seen(async (receiver) => {
    const router = new Router([
      route('list[{integers:places}]', {
        get: ({ places }) =>
          places.map((place) => ({
            path: ['list', place],
            value: { $type: 'ref', value: ['titles', place] },
          })),
      }),
      route('titles[{integers:ids}].name', { get: () => [] }),
    ]);
    await router.get([['list', { to: 2 }, 'name']]);
    assert.deepEqual(receiver.routes(), {
      'get list[{integers:places}]': { calls: 1, paths: 3 },
      'get titles[{integers:ids}].name': { calls: 1, paths: 3, unanswered: 3 },
    });
  });
});

void test('a call that takes too long has failed; one whose client has left has not', async () => {
  await seen(async (receiver) => {
    const router = new Router([route('slow', { get: async () => never, call: async () => never })], {
      ...quiet,
      timeoutMs: 20,
    });
    await router.get([['slow']]);
    const error = 'SLU-GRAPH-TIME: No value came within 20 ms';
    assert.deepEqual(receiver.routes(), { 'get slow': { calls: 1, paths: 1, failures: 1, error } });
    receiver.calls.length = 0;
    for (const method of ['get', 'call'] as const) {
      const leaving = new AbortController();
      const options = { signal: leaving.signal };
      const answer =
        method === 'get' ? router.get([['slow']], options) : router.call('slow', [], [], [], options);
      setImmediate(() => leaving.abort());
      await assert.rejects(answer);
    }
    assert.deepEqual(receiver.routes(), {
      'get slow': { calls: 1, paths: 1 },
      'call slow': { calls: 1, paths: 1 },
    });
    assert.equal(router.stats()[0]?.calls, 2);
  });
});

void test('whatever is thrown has a text of one bounded line', () => {
  const hostile = new Error('x');
  Object.defineProperty(hostile, 'message', {
    get: () => {
      throw new Error('from the getter');
    },
  });
  assert.equal(errorText(hostile), 'an error without a text');
  assert.equal(errorText(Object.create(null)), 'an error without a text');
  assert.equal(errorText('a text'), 'a text');
  assert.equal(errorText(new RouteError('gone', { code: 'X' })), 'X: gone');
  assert.equal(errorText(new Error('y'.repeat(10_000))).length, 300);
});
