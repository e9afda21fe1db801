/** Routers that are replaced as a whole. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import express from 'express';
import KoaRouter from '@koa/router';
import { replaceable } from '../src/api.js';

const require = createRequire(import.meta.url);
/** Neither has types here. */
const express4 = require('express4') as typeof express;
const { default: Koa } = require('koa') as {
  readonly default: new () => { use(middleware: unknown): void; callback(): RequestListener };
};

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

for (const [name, framework] of [
  ['Express 5', express],
  ['Express 4', express4],
] as const) {
  test(`${name}: requests get the router that is there when they come, and what it does not know goes on`, async (t) => {
    const built: object[] = [];
    const routes = await replaceable(() => {
      const version = built.length + 1;
      const router = framework.Router();
      router.get('/page', (_request, response) => void response.send(`page ${version}`));
      if (version === 1) router.get('/old', (_request, response) => void response.send('old'));
      built.push(router);
      return router;
    });
    const app = framework();
    app.use('/site', routes.handle);
    app.use((_request: unknown, response: { status(code: number): { send(text: string): void } }) =>
      response.status(404).send('none'),
    );
    const url = await serve(t, app);
    const ask = async (path: string): Promise<string> => (await fetch(`${url}${path}`)).text();
    assert.deepEqual([await ask('/site/page'), await ask('/site/old')], ['page 1', 'old']);
    for (let round = 0; round < 100; round += 1) await routes.replace();
    assert.deepEqual([await ask('/site/page'), await ask('/site/old')], ['page 101', 'none']);
    assert.equal((built.at(-1) as { stack: unknown[] }).stack.length, 1, 'no route is stacked on another');
  });
}

test('Koa: the routes of a router are a function too', async (t) => {
  let version = 0;
  const routes = await replaceable(() => {
    version += 1;
    const router = new KoaRouter();
    const text = `page ${version}`;
    router.get('/page', (context: { body: unknown }) => void (context.body = text));
    return router.routes();
  });
  const app = new Koa();
  app.use(routes.handle);
  const url = await serve(t, app.callback());
  await routes.replace();
  assert.equal(await (await fetch(`${url}/page`)).text(), 'page 2');
});

test('a build that fails leaves the present router in place', async () => {
  let fails = false;
  const routes = await replaceable(async () => {
    await setImmediate();
    if (fails) throw new Error('no database');
    return () => 'present';
  });
  fails = true;
  await assert.rejects(routes.replace(), /no database/);
  assert.equal(routes.handle(), 'present');
  fails = false;
  await routes.replace();
});

test('calls during a build share one more build, and the newest router is the last', async () => {
  let builds = 0;
  const ends: (() => void)[] = [];
  const first = replaceable(async () => {
    const number = (builds += 1);
    if (number > 1) await new Promise<void>((resolve) => ends.push(resolve));
    return () => number;
  });
  const routes = await first;
  const all = [routes.replace(), routes.replace(), routes.replace()];
  assert.equal(routes.handle(), 1);
  ends.shift()?.();
  await all[0];
  assert.equal(routes.handle(), 2);
  all.push(routes.replace());
  await setImmediate();
  ends.shift()?.();
  await Promise.all(all);
  assert.deepEqual([routes.handle(), builds], [3, 3]);
});

test('what is no router is refused in words', async () => {
  await assert.rejects(
    replaceable(() => ({ routes: [] }) as never),
    /needs a function as a router.* and got object/,
  );
  await assert.rejects(
    replaceable(() => null as never),
    /got null/,
  );
});
