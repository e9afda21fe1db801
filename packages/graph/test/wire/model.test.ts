// The model of this package on each source that this package has: a router beside it, and one over HTTP, whole and in parts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Model, ReadErrors } from '../../src/index.js';
import type { DataSource } from '../../src/types.js';
import { httpSource } from '../../src/wire/index.js';
import { Router, type RouteDefinition } from '../../src/router/index.js';
import { serveGraph, Shop, type serve } from './support.js';

type Made = (t: Parameters<typeof serve>[0], shop: Shop) => Promise<DataSource>;

const routerOf = (shop: Shop): Router => new Router(shop.routes(), { onError: () => undefined });
const sources: Record<string, Made> = {
  'a router': async (_t, shop) => Promise.resolve(routerOf(shop).asDataSource()),
  'a router, in parts': async (_t, shop) =>
    Promise.resolve(routerOf(shop).asDataSource(undefined, { isStream: true })),
  'a router behind another': async (_t, shop) =>
    Promise.resolve(
      new Router([], {
        unhandled: routerOf(shop).asDataSource(undefined, { isStream: true }),
      }).asDataSource(),
    ),
  'a router over HTTP': async (t, shop) => httpSource(await serveGraph(t, routerOf(shop))),
  'a router over HTTP, in parts': async (t, shop) =>
    httpSource(await serveGraph(t, routerOf(shop)), { isStream: true }),
};
for (const [name, made] of Object.entries(sources)) {
  void test(`a model gets, sets and calls through ${name}`, async (t) => {
    const shop = new Shop();
    const model = new Model({ source: await made(t, shop) });
    const got = await model.get('lists.mine[0..3]["name","tags"]', 'lists.mine.length');
    const mine = (got as { json: { lists: { mine: Record<string, unknown> } } }).json.lists.mine;
    assert.deepEqual(JSON.parse(JSON.stringify([mine['0'], mine['length']])), [
      { name: 'Title 3 ü', tags: ['a', 3] },
      3,
    ]);
    assert.equal(await model.getValue('lists.mine[7].name'), undefined);
    assert.equal(await model.setValue('lists.mine[1].rating', 9), 5);
    assert.equal(shop.ratings.get(5), 5);
    await model.call('lists.mine.push', [13], ['name'], ['length']);
    assert.deepEqual(shop.mine, [3, 5, 8, 13]);
    assert.equal(await model.getValue('lists.mine.length'), 4);
    assert.equal(await model.getValue('lists.mine[3].name'), 'Title 13 ü');
    await assert.rejects(model.get('broken'), (error) => {
      assert.ok(error instanceof ReadErrors);
      assert.match(JSON.stringify(error.errors), /SLU-GRAPH-HANDLER/);
      return true;
    });
  });
}

void test('a model shows the parts of an answer as routes give them', async (t) => {
  let release: (() => void) | undefined;
  const routes: RouteDefinition[] = [
    { route: 'page.head', get: () => ({ path: ['page', 'head'], value: 'h' }) },
    {
      route: 'page.body',
      get: () =>
        new Promise((resolve) => {
          release = () => resolve({ path: ['page', 'body'], value: 'b' });
        }),
    },
  ];
  const url = await serveGraph(t, new Router(routes));
  const model = new Model({ source: httpSource(url, { isStream: true }) });
  const seen: unknown[] = [];
  for await (const { json } of model.stream('page["head","body"]')) {
    seen.push(JSON.parse(JSON.stringify(json)));
    release?.();
  }
  assert.deepEqual(seen, [{ page: { head: 'h' } }, { page: { head: 'h', body: 'b' } }]);
});
