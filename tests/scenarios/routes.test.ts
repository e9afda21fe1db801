// Faults of route tables, planted in real apps of each router that is known, are named by file and line.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { app, type Sluice } from '../support/sluice.ts';
import { ask, ownApp, running, statusWhen } from './scenario.ts';

interface Route {
  position: number;
  kind: string;
  methods: string[];
  path: string;
  handler: string;
  file?: string;
  line?: number;
  of_handler?: boolean;
  added: boolean;
  repeats?: number;
  behind?: number;
  certain?: boolean;
  tests?: number;
  look_up_us?: number;
}

interface Table {
  framework: string;
  look_up: string;
  entries: number;
  added: number;
  routes: Route[];
}

async function tablesOf(sluice: Sluice, ...flags: string[]): Promise<Table[]> {
  const { code, stdout, stderr } = await sluice.cli(['routes', '--json', ...flags]);
  assert.equal(code, 0, stderr);
  const { workers } = JSON.parse(stdout) as { workers: { tables: Table[] }[] };
  return workers.flatMap(({ tables }) => tables);
}

/** The line of an app that says so, in a comment unless it is a path. */
function lineOf(file: string, mark: string): number {
  const lines = fs.readFileSync(ownApp(`routes/${file}`), 'utf8').split('\n');
  const said = mark.startsWith('/') ? `'${mark}` : `// ${mark}`;
  return lines.findIndex((line) => line.includes(said)) + 1;
}

/** The only table, and its entries by method and path, with what is told of each. */
async function tableOf(
  sluice: Sluice,
): Promise<{ table: Table; named: (name: string) => Route[]; at: (position?: number) => string }> {
  const tables = await tablesOf(sluice);
  assert.equal(tables.length, 1, JSON.stringify(tables));
  const table = tables[0] as Table;
  const nameOf = ({ methods, path }: Route) => `${methods.join(',')} ${path}`.trim();
  return {
    table,
    named: (name) => table.routes.filter((route) => nameOf(route) === name),
    at: (position = 0) => nameOf(table.routes[position - 1] as Route),
  };
}

/** Asks for more routes until the worker says that it has some that came while it served. */
async function grow(sluice: Sluice): Promise<void> {
  await eventually(
    async () => {
      await ask(sluice, '/grow');
      return (await tablesOf(sluice)).some(({ added }) => added > 0);
    },
    { deadlineMs: 20_000, what: 'a route that came while the worker served' },
  );
}

for (const express of ['express', 'express4']) {
  void test(`${express}: duplicates, routes behind others, nested routers, growth`, async (t) => {
    const file = 'express.cjs';
    const sluice = await running(t, {
      entry: ownApp(`routes/${file}`),
      workers: 1,
      env: { EXPRESS: express },
    });
    assert.equal((await ask(sluice, '/users/me')).body.toString(), 'me');
    const { table, named, at } = await tableOf(sluice);
    assert.deepEqual([table.framework, table.look_up, table.added], ['express', 'linear', 0]);

    const [me] = named('GET /users/me');
    assert.deepEqual(
      [me?.line, me?.certain, at(me?.behind)],
      [lineOf(file, 'behind-never'), true, 'GET /users/:id'],
    );
    assert.ok(me?.file?.endsWith(`routes/${file}`), me?.file);
    assert.equal(named('POST /users/me')[0]?.behind, undefined, 'another method');
    assert.equal(named('GET /users/:id')[0]?.behind, undefined);

    const [first, again] = named('GET /list');
    assert.deepEqual([again?.repeats, again?.line], [first?.position, lineOf(file, 'duplicate')]);
    assert.equal(first?.repeats, undefined);

    const [item, nested] = [...named('GET /shop/items/:id'), ...named('GET /shop/items/new')];
    assert.deepEqual([nested?.behind, nested?.certain], [item?.position, true]);
    assert.equal(nested?.line, lineOf(file, 'behind-nested'));
    assert.ok(named('GET /inner/inside').length === 1, 'an app that is mounted in another');
    assert.ok((nested?.tests ?? 0) > (me?.tests ?? 0) && (nested?.look_up_us ?? 0) > 0);

    const [mount] = table.routes.filter(({ kind }) => kind === 'mount');
    assert.ok(
      mount?.path === '/shop' && mount.file?.endsWith(file),
      'a router has the place where it is mounted',
    );
    assert.equal(table.routes.filter(({ kind }) => kind === 'error').length, 1);

    await grow(sluice);
    const after = await tableOf(sluice);
    const added = after.table.routes.filter((route) => route.added);
    assert.ok(added.length > 0 && added.every(({ line }) => line === lineOf(file, 'grows')));
  });
}

for (const file of ['koa.cjs', 'koa.mjs']) {
  void test(`@koa/router in ${file}: duplicates, routes behind others, nested routers, growth`, async (t) => {
    const sluice = await running(t, { entry: ownApp(`routes/${file}`), workers: 1 });
    assert.equal((await ask(sluice, '/users/me')).body.toString(), 'me');
    const routes = 'koa-routes.cjs';
    const { table, named, at } = await tableOf(sluice);
    assert.deepEqual([table.framework, table.look_up], ['koa-router', 'all']);
    const [me] = named('GET /users/me');
    assert.deepEqual(
      [me?.line, me?.certain, at(me?.behind)],
      [lineOf(routes, 'behind-never'), true, 'GET /users/:id'],
    );
    const [first, again] = named('GET /list');
    assert.deepEqual([again?.repeats, again?.line], [first?.position, lineOf(routes, 'duplicate')]);
    const [nested] = named('GET /shop/items/:id');
    assert.equal(
      nested?.line,
      lineOf(routes, 'nested'),
      'the place where it was registered, not where it is mounted',
    );
    assert.equal(nested?.behind, undefined);
    await grow(sluice);
    const added = (await tableOf(sluice)).table.routes.filter((route) => route.added);
    assert.ok(added.length > 0 && added.every(({ line }) => line === lineOf(routes, 'grows')));
  });
}

void test('Hono: duplicates, routes behind others, mounted routes, growth of a linear router', async (t) => {
  const file = 'hono.mjs';
  const sluice = await running(t, { entry: ownApp(`routes/${file}`), workers: 1 });
  assert.equal((await ask(sluice, '/users/me')).body.toString(), 'me');
  const { table, named, at } = await tableOf(sluice);
  assert.deepEqual([table.framework, table.look_up], ['hono', 'tree']);
  const [me] = named('GET /users/me');
  assert.deepEqual(
    [me?.line, me?.certain, at(me?.behind)],
    [lineOf(file, 'behind-never'), true, 'GET /users/:id'],
  );
  const [passing, first, again] = named('GET /list');
  assert.deepEqual(
    [passing?.repeats, first?.repeats, again?.repeats],
    [undefined, undefined, first?.position],
  );
  assert.equal(again?.line, lineOf(file, 'duplicate'));
  assert.equal(named('GET /shop/items/:id{[0-9]+}')[0]?.line, lineOf(file, 'nested'));
  assert.equal((await ask(sluice, '/grow')).status, 500, 'this router takes none once it has answered');
  assert.equal((await tableOf(sluice)).table.entries, table.entries);

  const linear = await running(t, { entry: ownApp(`routes/${file}`), workers: 1, env: { HONO: 'linear' } });
  await grow(linear);
  const grown = await tableOf(linear);
  assert.equal(grown.table.look_up, 'linear');
  const added = grown.table.routes.filter((route) => route.added);
  assert.ok(added.length > 0 && added.every(({ line }) => line === lineOf(file, 'grows')));
});

void test('Fastify: every route with its place; the order means nothing', async (t) => {
  const file = 'fastify.cjs';
  const sluice = await running(t, { entry: ownApp(`routes/${file}`), workers: 1 });
  assert.equal((await ask(sluice, '/users/me')).body.toString(), 'me');
  const { table, named } = await tableOf(sluice);
  assert.deepEqual([table.framework, table.look_up], ['fastify', 'tree']);
  const [nested] = named('GET,POST /shop/items');
  assert.ok(nested?.line === lineOf(file, 'nested') && nested.file?.endsWith(file));
  assert.ok(table.routes.every(({ behind, repeats }) => behind === undefined && repeats === undefined));
});

void test('ten duplicate handlers in a simulated hour are an alarm that names file and line', async (t) => {
  const file = 'leak.cjs';
  // A window of growth is a second instead of a minute, an hour three.
  const env = { HOUR_MS: '3000', ...bounds({ alarm_after_s: 1 }) };
  const sluice = await running(t, { entry: ownApp(`routes/${file}`), workers: 1, env });
  const growth = await statusWhen(
    sluice,
    ({ alarms }) => alarms.some(({ alarm }) => alarm === 'routes_grow'),
    'the alarm',
    30_000,
  );
  const text = growth.alarms.find(({ alarm }) => alarm === 'routes_grow')?.text ?? '';
  const [, named, line, added] = /registered at (.*):(\d+) \((\d+)\)\./.exec(text) ?? [];
  assert.equal(named, ownApp(`routes/${file}`), text);
  assert.equal(Number(line), lineOf(file, 'leaks'), text);
  assert.ok(Number(added) >= 3, text);
  const raised = () =>
    sluice.logs.filter(({ event, alarm }) => event === 'alarm_raised' && alarm === 'routes_grow');
  await eventually(() => raised().length > 0, { what: 'the line of the alarm' });

  const { stdout } = await sluice.cli(['routes']);
  assert.equal(raised().length, 1, 'told once');
  const told = stdout.split('\n').find((row) => row.startsWith('GET /news')) ?? '';
  assert.match(told, new RegExp(`leak\\.cjs:${line} +\\d+ +\\S*leak\\.cjs:${line} \\(\\d+\\)$`), stdout);
});

for (const [file, framework] of [
  ['express.cjs', 'express'],
  ['koa.cjs', 'koa-router'],
  ['hono.mjs', 'hono'],
] as const) {
  void test(`a router in one file with the app (${file}) is found, with the places of its handlers`, async (t) => {
    const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'sluice-bundle-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    const outfile = path.join(folder, file);
    await build({
      entryPoints: [ownApp(`routes/${file}`)],
      bundle: true,
      platform: 'node',
      format: file.endsWith('.mjs') ? 'esm' : 'cjs',
      define: { 'process.env.EXPRESS': '"express"' },
      sourcemap: true,
      outfile,
      logLevel: 'error',
    });
    const sluice = await running(t, { entry: outfile, workers: 1 });
    assert.equal((await ask(sluice, '/users/me')).body.toString(), 'me');
    const { table, named, at } = await tableOf(sluice);
    assert.equal(table.framework, framework);
    const [me] = named('GET /users/me');
    assert.deepEqual([me?.certain, at(me?.behind)], [true, 'GET /users/:id']);
    const [wide] = named('GET /users/:id');
    assert.equal(wide?.of_handler, true);
    // Through the bundle's source map.
    const source = framework === 'koa-router' ? 'koa-routes.cjs' : file;
    assert.equal(wide?.file, ownApp(`routes/${source}`));
    assert.equal(wide?.line, lineOf(source, "/users/:id'"));
    const text = (await sluice.cli(['routes'])).stdout;
    assert.match(text, new RegExp(`GET /users/:id .*${source}:${wide?.line} \\(handler\\)$`, 'm'));
    assert.deepEqual(
      sluice.logs.filter((line) => JSON.stringify(line).includes('Warning')),
      [],
      'nothing of the app was asked that answers',
    );
  });
}

void test('an app without a router that is known is told which ones are', async (t) => {
  const sluice = await running(t, { entry: app('spin.js'), workers: 1 });
  const { code, stderr } = await sluice.cli(['routes']);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /none of the routers that Sluice reads: Express 4 and 5, Fastify, Koa \(@koa\/router, koa-router\) and Hono/,
  );
  const none = await sluice.cli(['routes', '--worker', '99']);
  assert.deepEqual([none.code, none.stderr.includes('no worker 99 serves')], [1, true], none.stderr);
});
