import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pauses } from '../src/profiles/pauses.js';
import { placesOf, searchRouters } from '../src/routes/route-search.js';

const pause = pauses(new AbortController().signal);

/** As Koa's router. */
class Router {
  readonly stack: object[] = [];
  register(): void {}
  match(): void {}
}

test('a router is found behind closures, bound functions and lists', async () => {
  const router = new Router();
  const routes = (): Router => router;
  const chain = [() => {}, routes];
  const inner = function (this: object): unknown {
    return [this, chain];
  };
  const handle = inner.bind({ callback: () => {}, middleware: [] });
  const listener = (): unknown => handle();
  assert.deepEqual(
    (await searchRouters([listener], pause)).map((found) => [found.framework, found.router === router]),
    [['koa-router', true]],
  );
  assert.deepEqual(
    Object.getOwnPropertySymbols(globalThis)
      .map(String)
      .filter((name) => /route-search/.test(name)),
    [],
  );
});

test("nothing of the app is run: neither its proxies' traps nor its getters", async () => {
  const asked: unknown[] = [];
  const trap = (_target: object, name: string | symbol): never => {
    asked.push(name);
    throw new Error('asked');
  };
  const proxy = new Proxy(() => {}, {
    get: trap,
    getOwnPropertyDescriptor: trap,
    getPrototypeOf: () => trap({}, 'proto'),
  });
  const child = Object.create(proxy) as object;
  const names = ['stack', 'router', 'fetch', 'handle', 'middleware', 'register'];
  const getters = Object.defineProperties(
    () => {},
    Object.fromEntries(names.map((name) => [name, { get: () => trap({}, name) }])),
  );
  const listener = (): unknown => [proxy, child, getters];
  assert.deepEqual(await searchRouters([listener], pause), []);
  assert.deepEqual(asked, []);
});

test('functions have the file and line where they are written', async () => {
  const here = (): void => {};
  const [place, none] = await placesOf([here, Math.max], pause);
  assert.match(place?.file ?? '', /route-search\.test\.ts/);
  assert.ok((place?.line ?? 0) > 0);
  assert.equal(none, undefined);
});
