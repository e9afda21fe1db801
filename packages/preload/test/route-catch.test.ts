import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import { callSite } from '../src/routes/call-site.js';
import { Catcher } from '../src/routes/route-catch.js';
import { packageOf } from '../src/routes/route-imports.js';
import { report } from '../src/routes/route-report.js';
import { RouteTables } from '../src/routes/route-tables.js';

const require = createRequire(import.meta.url);
const never = new AbortController().signal;

/** A class as that of @koa/router, of its own for each test. */
function ownRouter() {
  return class Router {
    readonly stack: object[] = [];
    register(this: Router, where: string, methods: string[], handler: (context: object) => void): object {
      if (where === '/throws') throw new RangeError('not that');
      const layer = { path: where, methods, stack: [handler], regexp: /^\/x$/ };
      this.stack.push(layer);
      return layer;
    }
    routes(): void {}
    match(): void {}
    use(): void {}
  };
}

test('a router keeps the names, lengths, results and errors of its methods, and this', () => {
  const Router = ownRouter();
  const before = Object.getOwnPropertyDescriptor(Router.prototype, 'register');
  new Catcher(new RouteTables()).koa(Router);
  const after = Object.getOwnPropertyDescriptor(Router.prototype, 'register');
  assert.notEqual(after?.value, before?.value);
  assert.deepEqual(
    [after?.enumerable, after?.writable, after?.configurable],
    [before?.enumerable, before?.writable, before?.configurable],
  );
  assert.deepEqual([Router.prototype.register.name, Router.prototype.register.length], ['register', 3]);
  const router = new Router();
  const layer = router.register('/x', ['GET'], () => {});
  assert.equal(router.stack[0], layer);
  assert.throws(() => router.register('/throws', [], () => {}), RangeError);
  const register = Reflect.get(router, 'register') as unknown as () => void;
  assert.throws(() => Reflect.apply(register, undefined, ['/x', [], () => {}]), TypeError);
});

test('modules that only look like routers, and objects that throw, are left alone', () => {
  const catcher = new Catcher(new RouteTables());
  const odd = new Proxy(() => {}, {
    get: () => {
      throw new Error('not yours');
    },
  });
  for (const exports of [undefined, null, 7, {}, { use: () => {} }, class Other extends Map {}]) {
    catcher.express(exports);
    catcher.expressApp(exports);
    catcher.koa(exports);
    catcher.hono(exports);
    catcher.fastify(exports);
  }
  const Router = ownRouter();
  const tables = new RouteTables();
  new Catcher(tables).koa({ Router });
  // What is asked of a router that breaks is not the app's to see.
  const broken = Object.create(Router.prototype, { stack: { get: odd } }) as object;
  assert.throws(() =>
    Reflect.apply(Reflect.get(Router.prototype, 'register') as unknown as () => void, broken, [
      '/x',
      [],
      () => {},
    ]),
  );
});

test('entries have the place that registered them, and those that came later say so', async () => {
  const Router = ownRouter();
  const tables = new RouteTables();
  new Catcher(tables).koa(Router);
  const router = new Router();
  router.register('/x', ['GET'], () => {});
  const add = () => router.register('/x', ['GET'], () => {});
  assert.equal(tables.news(), undefined, 'the first look says how many there are');
  add();
  add();
  const growth = tables.news();
  assert.deepEqual([growth?.size, growth?.added, growth?.places.length], [3, 2, 1]);
  assert.equal(growth?.places[0]?.added, 2);
  // The test is translated in memory, and the place is in what was written.
  const lines = fs.readFileSync(new URL(import.meta.url), 'utf8').split('\n');
  assert.match(growth?.places[0]?.file ?? '', /route-catch\.test\.ts$/);
  assert.equal(growth?.places[0]?.line, lines.findIndex((line) => line.includes('const add = ')) + 1);
  assert.equal(tables.news(), undefined, 'told once');
  router.stack.pop();
  add();
  assert.equal(tables.news(), undefined, 'as many as before');
  const told = await report(tables, never);
  assert.deepEqual(
    told.tables[0]?.routes.map(({ added, repeats }) => [added, repeats]),
    [
      [false, undefined],
      [true, 1],
      [true, 1],
    ],
  );
});

test('a router that a request makes for itself is no growth, and goes', () => {
  const Router = ownRouter();
  const tables = new RouteTables();
  new Catcher(tables).koa(Router);
  new Router().register('/x', ['GET'], () => {});
  tables.news();
  for (let request = 0; request < 3; request += 1) {
    new Router().register('/x', ['GET'], () => {});
    assert.equal(tables.news(), undefined);
  }
});

test('an app that is gone is not held by what is remembered of its routes', async () => {
  v8.setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  class LinearRouter {
    readonly name = 'LinearRouter';
    add(_method: string, _path: string, _handler: unknown): void {}
    match(): void {}
  }
  const tables = new RouteTables();
  new Catcher(tables).hono({ LinearRouter });
  const make = (): WeakRef<object> => {
    const router = new LinearRouter();
    const route = { method: 'GET', path: '/x', handler: () => router };
    router.add('GET', '/x', [route.handler, route]);
    return new WeakRef(router);
  };
  const gone = make();
  assert.equal((await report(tables, never)).tables[0]?.entries, 1);
  // What a weak reference has given is held until the turn is over.
  await new Promise(setImmediate);
  gc();
  assert.equal(gone.deref(), undefined);
  assert.equal(tables.tables().length, 0);
});

test('I6: the number of remembered routers and entries is limited, and the limit is reported', async () => {
  const Router = ownRouter();
  const tables = new RouteTables();
  new Catcher(tables).koa(Router);
  const kept = Array.from({ length: 1100 }, () => new Router());
  for (const router of kept) router.register('/x', ['GET'], () => {});
  assert.equal(tables.tables().length, 1000);
  assert.equal(tables.left_off, 100);
  const [first] = kept;
  for (let count = 0; count < 10_000; count += 1) first?.register(`/${count}`, ['GET'], () => {});
  assert.equal(tables.left_off, 100 + 1000);
  const told = await report(tables, never);
  assert.equal(told.tables.length, 50);
  assert.ok(told.tables.reduce((sum, table) => sum + table.routes.length, 0) <= 10_000);
  assert.ok(told.left_off > 1100);
});

test('the place is outside node_modules, and Error is as it was', () => {
  const own = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  const limit = Error.stackTraceLimit;
  const probe = (): ReturnType<typeof callSite> => callSite(probe);
  assert.match(probe()?.file ?? '', /route-catch\.test\.ts$/);
  assert.deepEqual(Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace'), own);
  assert.equal(Error.stackTraceLimit, limit);
});

test('Express as it is installed: a path in place of a function, arrays, and routers in routers', async () => {
  const tables = new RouteTables();
  const catcher = new Catcher(tables);
  const express = require('express') as typeof import('express');
  catcher.express(express.Router);
  const [app, shop, deep] = [express(), express.Router(), express.Router()];
  deep.get(['/a', '/b'], (_request, response) => void response.end());
  deep.get('/b', (_request, response) => void response.end());
  shop.use('/deep', deep);
  app.use(['/shop', '/store'], shop);
  app.get('/shop/deep/b', (_request, response) => void response.end());
  const { tables: told } = await report(tables, never);
  assert.equal(told.length, 1, 'routers that are mounted are no tables of their own');
  const routes = told[0]?.routes ?? [];
  const behind = routes.find(({ path: where }) => where === '/shop/deep/b');
  assert.deepEqual(
    [behind?.behind, behind?.certain],
    [routes.findIndex(({ kind }) => kind === 'route') + 1, true],
  );
  const b = routes.find(({ path: where }) => where === '/shop/deep/b, /store/deep/b');
  assert.equal(b?.certain, true);
});

test('lists of functions and paths, odd names and matchers that throw are told', async () => {
  const tables = new RouteTables();
  const catcher = new Catcher(tables);
  const express = require('express') as typeof import('express');
  catcher.express(express.Router);
  const app = express();
  const pass = (_request: object, _response: object, next: () => void): void => next();
  const odd = Object.defineProperty((_request: object, _response: object) => {}, 'name', { value: 7 });
  app.use([pass, [pass]] as never);
  app.get(`/${'é😀'.repeat(200)}`, odd as never);
  const throwing = /^\/x/;
  throwing.exec = () => {
    throw new Error('not yours');
  };
  app.get(throwing, odd as never);
  app.get('/x', odd as never);
  const routes = (await report(tables, never)).tables[0]?.routes ?? [];
  assert.deepEqual(
    routes.map(({ kind, repeats }) => [kind, repeats]),
    [
      ['middleware', undefined],
      ['middleware', 1],
      ['route', undefined],
      ['route', undefined],
      ['route', undefined],
    ],
  );
  assert.deepEqual([routes[0]?.path, routes[2]?.handler], ['/', '']);
  const long = routes[2]?.path ?? '';
  assert.equal(Buffer.from(long).toString(), long);
  assert.equal(routes[4]?.behind, undefined);
});

test('I6: reading ends for a router that is mounted in itself or in many places', async () => {
  const tables = new RouteTables();
  const catcher = new Catcher(tables);
  const express = require('express') as typeof import('express');
  catcher.express(express.Router);
  const routers = Array.from({ length: 17 }, () => express.Router());
  for (const [at, router] of routers.entries()) {
    const next = routers[(at + 1) % routers.length] as (typeof routers)[number];
    router.get('/x', (_request, response) => void response.end());
    router.use('/a', next).use('/b', next);
  }
  const root = express();
  root.use(routers[0] as (typeof routers)[number]);
  const { tables: told, left_off } = await report(tables, never);
  assert.equal(told.length, 1);
  assert.ok((told[0]?.entries ?? 0) <= 50_000, String(told[0]?.entries));
  assert.ok((told[0]?.routes.length ?? 0) <= 10_000);
  assert.ok(left_off > 0);
});

test('a router below an expression, and an app of `connect`, are told as far as they are understood', async () => {
  const tables = new RouteTables();
  const catcher = new Catcher(tables);
  const express = require('express') as typeof import('express');
  catcher.express(express.Router);
  const [app, below] = [express(), express.Router()];
  below.get('/x', (_request, response) => void response.end());
  app.use(/^\/odd/, below);
  const connect = Object.assign((_request: object, _response: object, _next: object) => {}, {
    route: '/',
    stack: [{ route: '', handle: () => {} }],
  });
  app.use(connect as never);
  const { tables: told } = await report(tables, never);
  assert.deepEqual(
    told[0]?.routes.map(({ kind, path: where }) => [kind, where]),
    [
      ['mount', '/^\\/odd/'],
      ['route', '/^\\/odd/ /x'],
      ['middleware', '/'],
    ],
  );
  assert.equal(told[0]?.not_judged, 1);
});

test("an import is looked for only where the app's own package names it and its script is a module", (t) => {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'sluice-imports-')));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const write = (file: string, text: object | string) => {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    fs.writeFileSync(path.join(folder, file), typeof text === 'string' ? text : JSON.stringify(text));
  };
  write('node_modules/hono/package.json', {});
  write('package.json', { type: 'module', dependencies: { hono: '*' } });
  for (const file of ['server.js', 'server.cjs', 'src/server.ts', 'dist/server.js']) write(file, '');
  write('dist/package.json', { type: 'commonjs' });
  const hono = path.join(folder, 'node_modules', 'hono');
  const found = (file: string) => packageOf(path.join(folder, file), 'hono');
  assert.deepEqual(['server.js', 'src/server.ts', 'server.cjs', 'dist/server.js', 'none.js'].map(found), [
    hono,
    hono,
    undefined,
    undefined,
    undefined,
  ]);
  assert.equal(packageOf(path.join(folder, 'server.js'), '@koa/router'), undefined);
});
