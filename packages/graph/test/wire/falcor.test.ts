// Netflix's own client and server on the other end of HTTP.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import express from 'express';
import { httpSource } from '../../src/wire/index.js';
import { RouteError, Router } from '../../src/router/index.js';
import type { Envelope, PathSet } from '../../src/types.js';
import { read } from '../router/support.js';
import {
  falcor,
  FalcorHttp,
  FalcorServer,
  last,
  serve,
  serveGraph,
  Shop,
  type FalcorModel,
} from './support.js';

async function modelOf(t: Parameters<typeof serve>[0], shop: Shop): Promise<FalcorModel> {
  const url = await serveGraph(t, new Router(shop.routes(), { onError: () => undefined }));
  return new falcor.Model({ source: new FalcorHttp(url) });
}

/** JSON of a result without the client's own keys. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, one: unknown) => (key.startsWith('$__') ? undefined : one)));
}

void test('falcor 2.4 gets values through references from this router', async (t) => {
  const model = await modelOf(t, new Shop());
  const got = await last(model.get('lists.mine[0..3]["name","tags","rating"]', 'lists.mine.length'));
  assert.deepEqual(plain(got?.json), {
    lists: {
      mine: {
        0: { name: 'Title 3 ü', tags: ['a', 3], rating: 0 },
        1: { name: 'Title 5 ü', tags: ['a', 5], rating: 0 },
        2: { name: 'Title 8 ü', tags: ['a', 8], rating: 0 },
        // The list has no such place.
        3: {},
        length: 3,
      },
    },
  });
});

void test('falcor 2.4 gets the errors of paths, beside the values of others', async (t) => {
  const model = await modelOf(t, new Shop());
  const values: unknown[] = [];
  const errors = await new Promise((resolve, reject) => {
    model.get('lists.mine.length', 'broken').subscribe(
      (value) => values.push(value),
      resolve,
      () => reject(new Error('no error')),
    );
  });
  assert.deepEqual(plain(errors), [
    { path: ['broken'], value: { message: 'Internal error', code: 'SLU-GRAPH-HANDLER', status: 500 } },
  ]);
});

void test('falcor 2.4 sets values through this router, which answers what they are then', async (t) => {
  const shop = new Shop();
  const model = await modelOf(t, shop);
  const set = await last(model.set({ path: ['lists', 'mine', 1, 'rating'], value: 9 }));
  assert.deepEqual(plain(set?.json), { lists: { mine: { 1: { rating: 5 } } } });
  assert.equal(shop.ratings.get(5), 5);
});

void test('falcor 2.4 calls functions of this router, and gets the paths that it wants after them', async (t) => {
  const shop = new Shop();
  const model = await modelOf(t, shop);
  await last(model.get('lists.mine.length'));
  const called = await last(
    model.call(['lists', 'mine', 'push'], [13], [['name']], [['length'], [0, 'name']]),
  );
  assert.deepEqual(plain(called?.json), {
    lists: { mine: { 0: { name: 'Title 3 ü' }, 3: { name: 'Title 13 ü' }, length: 4 } },
  });
  assert.deepEqual(shop.mine, [3, 5, 8, 13]);
  const after = await last(model.get('lists.mine.length'));
  assert.deepEqual(plain(after?.json), { lists: { mine: { length: 4 } } });
  await assert.rejects(last(model.call(['lists', 'mine', 'push'], ['x'])), (error) => {
    assert.doesNotMatch(JSON.stringify(error), /no id/);
    return true;
  });
});

/** Server as `falcor-express` makes one. */
async function serveFalcor(t: Parameters<typeof serve>[0], routes: readonly object[]): Promise<string> {
  const FalcorRouter = FalcorServer.createClass(routes);
  const app = express();
  app.use(express.urlencoded({ extended: false }));
  app.all('/model.json', (request, response, next) => {
    const given = (request.method === 'POST' ? request.body : request.query) as Record<string, string>;
    const parsed = (name: string): never => JSON.parse(given[name] ?? '[]') as never;
    const router = new FalcorRouter();
    const answer =
      given['method'] === 'set'
        ? router.set(parsed('jsonGraph'))
        : given['method'] === 'call'
          ? router.call(parsed('callPath'), parsed('arguments'), parsed('pathSuffixes'), parsed('paths'))
          : router.get(parsed('paths'));
    answer.subscribe((envelope) => response.json(envelope), next);
  });
  return `${await serve(t, app)}/model.json`;
}

/** Routes of falcor-router, which get their keys as ours do. */
function falcorRoutes(ratings: Map<number, number>): object[] {
  return [
    {
      route: 'list[{integers:places}]',
      get: ({ places }: { places: number[] }) =>
        places.map((place) => ({
          path: ['list', place],
          value: { $type: 'ref', value: ['titles', place + 10] },
        })),
    },
    {
      route: 'titles[{integers:ids}].name',
      get: async ({ ids }: { ids: number[] }) =>
        ids.map((id) => ({ path: ['titles', id, 'name'], value: `T${id}` })),
    },
    {
      route: 'titles[{integers:ids}].rating',
      set: ({ titles }: { titles: Record<number, { rating: number }> }) =>
        Object.entries(titles).map(([id, { rating }]) => {
          ratings.set(Number(id), rating);
          return { path: ['titles', Number(id), 'rating'], value: rating };
        }),
    },
    {
      route: 'list.push',
      call: (_path: unknown, [id]: number[]) => [
        { path: ['list', 7], value: { $type: 'ref', value: ['titles', id] } },
      ],
    },
  ];
}

async function whole(answer: ReturnType<ReturnType<typeof httpSource>['get']>): Promise<Envelope> {
  if (!(Symbol.asyncIterator in answer)) return answer;
  const parts: Envelope[] = [];
  for await (const part of answer) parts.push(part);
  assert.equal(parts.length, 1);
  return parts[0] as Envelope;
}

for (const isStream of [false, true]) {
  void test(`this data source speaks to falcor-router 0.8, ${isStream ? 'asking for parts' : 'whole'}`, async (t) => {
    const ratings = new Map<number, number>();
    const source = httpSource(await serveFalcor(t, falcorRoutes(ratings)), { isStream, urlMax: 400 });
    const got = await whole(source.get([['list', { to: 1 }, 'name']]));
    assert.equal(read(got.jsonGraph, ['list', 1, 'name']), 'T11');
    // Too long for an address.
    const places = Array.from({ length: 90 }, (_, at) => at * 2);
    const many = await whole(source.get([['list', places, 'name']]));
    assert.equal(read(many.jsonGraph, ['list', 0, 'name']), 'T10');
    const set = await whole(
      source.set({ jsonGraph: { titles: { 4: { rating: 3 } } }, paths: [['titles', 4, 'rating']] }),
    );
    assert.equal(read(set.jsonGraph, ['titles', 4, 'rating']), 3);
    assert.equal(ratings.get(4), 3);
    const called = await whole(source.call(['list', 'push'], [5], [['name']], [[0, 'name']]));
    assert.equal(read(called.jsonGraph, ['list', 7, 'name']), 'T5');
    assert.equal(read(called.jsonGraph, ['list', 0, 'name']), 'T10');
  });
}

void test('this router passes unhandled paths, sets and calls on to a falcor-router server', async (t) => {
  const ratings = new Map<number, number>();
  const url = await serveFalcor(t, falcorRoutes(ratings));
  const router = new Router(
    [{ route: 'own', get: () => ({ path: ['own'], value: { $type: 'ref', value: ['list', 1] } }) }],
    {
      unhandled: httpSource(url),
    },
  );
  const { jsonGraph } = await router.get([
    ['own', 'name'],
    ['list', 0, 'name'],
  ]);
  assert.equal(read(jsonGraph, ['own', 'name']), 'T11');
  assert.equal(read(jsonGraph, ['list', 0, 'name']), 'T10');
  await router.set({ jsonGraph: { own: { rating: 2 } }, paths: [['own', 'rating']] });
  assert.equal(ratings.get(11), 2);
  const called = await router.call(['list', 'push'], [6], [['name']]);
  assert.equal(read(called.jsonGraph, ['list', 7, 'name']), 'T6');
});

void test("errors of servers are the data source's, with status and code", async (t) => {
  const url = await serveGraph(t, new Router(new Shop().routes(), { pathsMax: 10 }));
  for (const isStream of [false, true]) {
    const source = httpSource(url, { isStream });
    const asked = (paths: PathSet[]): Promise<Envelope> => whole(source.get(paths));
    await assert.rejects(asked([['lists', 'mine', { to: 99 }]]), (error) => {
      assert.ok(error instanceof RouteError);
      assert.deepEqual([error.code, error.statusCode], ['SLU-GRAPH-PATHS', 413]);
      return true;
    });
  }
  const html = await serve(t, (_request, response) => response.writeHead(502).end('<html>'));
  await assert.rejects(whole(httpSource(html).get([['a']])), { statusCode: 502 });
  const odd = await serve(t, (_request, response) => response.end('[]'));
  await assert.rejects(whole(httpSource(odd).get([['a']])), { code: 'SLU-GRAPH-SOURCE' });
  const cut = await serve(t, (_request, response) =>
    response
      .writeHead(200, { 'content-type': 'application/x-ndjson' })
      .end('{"jsonGraph":{"a":1},"paths":[["a"]]}\n'),
  );
  await assert.rejects(whole(httpSource(cut, { isStream: true }).get([['a']])), {
    message: 'The answer is incomplete',
  });
  const left = AbortSignal.abort(new Error('left'));
  await assert.rejects(whole(httpSource(url).get([['a']], { signal: left })), /left/);
});
