// Servers that move from Hypernova: which options work, which say why they do not, and how a server starts and ends.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import type * as React from 'react';
import { fragmentsOf, type FragmentRules } from '../../src/fragments/fragments.js';
import hypernovaInBrowser from '../../src/fragments/hypernova-browser.js';
import { renderReact } from '../../src/fragments/hypernova-react.js';
import { hypernovaSource } from '../../src/fragments/hypernova-source.js';
import hypernova, {
  createGetComponent,
  DATA_ID,
  DATA_KEY,
  getFiles,
  serialize,
  type HypernovaOptions,
} from '../../src/fragments/hypernova.js';
import { runHalf } from '../../src/fragments/isomorphic.js';
import { start } from '../support/fork.js';
import { post, resultOf, send } from '../support/serve.js';

const server = path.join(import.meta.dirname, 'fixtures/hypernova-server.ts');
const getComponent = () => undefined;

void test('options that cannot be honoured are refused with what to do', () => {
  const refused: readonly (readonly [object, RegExp])[] = [
    [{}, /needs `getComponent`, a function/],
    [{ getComponent: 'text' }, /needs `getComponent`, a function/],
    [{ getComponent, getCPUs: 4 }, /Sluice sets the number of workers/],
    [
      { getComponent, bodyParser: { strict: false } },
      /`bodyParser\.strict` is not supported; limit, inflate, verify, reviver are/,
    ],
    [{ getComponent, bodyParser: { limit: 'much' } }, /`bodyParser\.limit` is "much", not bytes/],
    [{ getComponent, createApplication: () => ({}) }, /no Express app with use\(\), post\(\) and listen\(\)/],
    [{ getComponent, createApplication: () => undefined }, /no Express app/],
  ];
  for (const [options, words] of refused) assert.throws(() => hypernova(options as HypernovaOptions), words);
  assert.throws(
    () => hypernova({ getComponent }, () => {}),
    /needs `createApplication: \(\) => express\(\)`/,
  );
});

void test('sandboxes are refused with why', () => {
  assert.throws(
    () => hypernova.createVM(),
    /createVM\(\) is not supported: components are modules of the process/,
  );
  assert.throws(() => hypernova.loadModules(), /loadModules\(\) is not supported/);
  assert.throws(
    () => createGetComponent({}, { cacheSize: 3 }),
    /second argument of createGetComponent\(\) is not supported/,
  );
});

void test('names of what every object has are no components of a getComponent that looks into an object', async () => {
  const components: Record<string, () => string> = { Own: () => '<p>own</p>' };
  const source = hypernovaSource((name) => components[name]);
  const fragments = fragmentsOf(source, {}, {});
  for (const name of [...Object.getOwnPropertyNames(Object.prototype), 'Own']) {
    const { statusCode } = resultOf(await fragments.batch({ a: { name, data: 'text' } }), 'a');
    assert.equal(statusCode, name === 'Own' ? 200 : 404, name);
  }
});

void test('a module for both sides runs the half of the side that it is on', () => {
  const halves = { server: () => 'server', client: () => 'client' };
  assert.equal(hypernova(halves), 'server');
  const global = globalThis as { window?: unknown };
  global.window = {};
  try {
    assert.equal(runHalf(halves), 'client');
  } finally {
    delete global.window;
  }
});

void test('a module for the server alone runs, and options with a server are options', () => {
  const half: string = hypernova({ server: () => 'server' });
  assert.equal(half, 'server');
  const global = globalThis as { window?: unknown };
  global.window = {};
  try {
    assert.throws(() => runHalf({ server: () => 'server' }), /in a browser needs a `client` function/);
  } finally {
    delete global.window;
  }
  const options = { getComponent, getCPUs: 4, server: () => 'of a plugin' } as unknown as HypernovaOptions;
  assert.throws(() => hypernova(options), /Sluice sets the number of workers/);
});

void test('names of attributes are exported, and are those of the markup', () => {
  assert.deepEqual([DATA_KEY, DATA_ID], ['hypernova-key', 'hypernova-id']);
  for (const each of [hypernova, hypernovaInBrowser])
    assert.deepEqual([each.DATA_KEY, each.DATA_ID], [DATA_KEY, DATA_ID]);
  const html = serialize('Hero', '<p></p>', {}, '7');
  assert.ok(html.startsWith(`<div data-${DATA_KEY}="Hero" data-${DATA_ID}="7">`), html);
});

const batchOf = async (views: Readonly<Record<string, unknown>>, rules: FragmentRules = {}) => {
  const jobs = Object.fromEntries(Object.keys(views).map((name) => [name, { name }]));
  return fragmentsOf(
    hypernovaSource((name) => views[name]),
    rules,
    {},
  ).batch(jobs);
};

void test('numbers and arrays that components give are texts, at once and later', async () => {
  const values = { number: 42, zero: 0, list: ['a', 1], none: [] };
  const views = Object.entries(values).flatMap(([name, value]) => [
    [name, () => value],
    [`${name} later`, async () => value],
  ]);
  const { results } = await batchOf(Object.fromEntries(views) as Readonly<Record<string, unknown>>);
  for (const [name, value] of Object.entries(values)) {
    assert.equal(results[name]?.html, String(value));
    assert.equal(results[`${name} later`]?.html, String(value));
  }
  const others = await batchOf({ true: () => true, object: () => ({}), null: () => null });
  for (const { error } of Object.values(others.results))
    assert.match(error?.message ?? '', /instead of HTML/);
});

void test('a component of renderReact ends when its job is late', async () => {
  let calls = 0;
  const Endless = (): React.ReactNode => {
    calls += 1;
    // oxlint-disable-next-line typescript/only-throw-error -- as components wait
    throw Promise.resolve();
  };
  const { results } = await batchOf({ Endless: renderReact('Endless', Endless) }, { timeoutMs: 50 });
  assert.equal(results['Endless']?.error?.name, 'LateError');
  const before = calls;
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(calls <= before + 1, `${calls - before} calls`);
});

void test('durations are 0 without a component, and null where nothing was asked for', async () => {
  const plugins = [
    { jobStart: ({ name }: { name: string }) => (name === 'Refused' ? Promise.reject(new Error('no')) : 1) },
  ];
  const { results } = await batchOf(
    { Text: () => 'text', Refused: () => '', Missing: undefined },
    { plugins },
  );
  assert.equal(typeof results['Text']?.duration, 'number');
  assert.equal(results['Missing']?.duration, 0);
  assert.equal(results['Refused']?.duration, null);
});

void test('the browser’s halves load nothing of Node', async () => {
  const folder = path.join(import.meta.dirname, '../../src/fragments');
  const { errors, metafile } = await build({
    entryPoints: ['hypernova-browser.ts', 'hypernova-react-browser.ts'].map((file) =>
      path.join(folder, file),
    ),
    bundle: true,
    platform: 'browser',
    format: 'esm',
    external: ['react', 'react-dom/client'],
    outdir: 'none',
    write: false,
    metafile: true,
  });
  assert.deepEqual(errors, []);
  const inputs = Object.keys(metafile.inputs).map((file) => path.basename(file));
  assert.deepEqual(inputs.toSorted(), [
    'hypernova-browser.ts',
    'hypernova-react-browser.ts',
    'isomorphic.ts',
    'markup.ts',
  ]);
});

void test('files are components, loaded when they are used', async (t) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'sluice-hypernova-'));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(path.join(folder, 'shop'));
  const files = {
    'package.json': '{"type":"commonjs"}',
    'Hero.js': 'module.exports = (data) => `<h1>${data.title}</h1>`',
    'shop/Box.js': 'exports.__esModule = true; exports.default = () => "<b>"',
    'shop/Broken.js': 'throw new Error("broken bundle")',
    'shop/none.txt': '',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  const found = getFiles(folder);
  assert.deepEqual(
    found,
    ['Hero.js', 'shop/Box.js', 'shop/Broken.js'].map((name) => ({ name, path: path.join(folder, name) })),
  );
  const getComponent = createGetComponent(Object.fromEntries(found.map((file) => [file.name, file.path])));
  const render = async (name: string, data: unknown) =>
    ((await getComponent(name)) as (data: unknown) => string)(data);
  assert.equal(await render('Hero.js', { title: 'A' }), '<h1>A</h1>');
  assert.equal(await render('shop/Box.js', {}), '<b>');
  assert.equal(getComponent('constructor'), null);
  assert.equal(getComponent('Missing'), null);
  await assert.rejects(async () => getComponent('shop/Broken.js'), /broken bundle/);
});

void test('the server listens after its plugins are ready, and a signal ends it after their shutDown', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const program = start(t, server);
    assert.deepEqual(await program.message(), { said: 'initialize' });
    const url = await program.address();
    const { answer } = await post(`${url}/batch`, { a: { name: 'Text', data: [1] }, b: { name: 'Nobody' } });
    assert.equal(resultOf(answer, 'a').html, '<p>[1]</p>');
    assert.equal(resultOf(answer, 'b').statusCode, 404);
    const large = { a: { name: 'Text', data: 'x'.repeat(1024) } };
    assert.equal((await post(`${url}/batch`, large)).status, 413);
    program.child.kill(signal);
    assert.deepEqual(await program.message(), { said: 'shutDown' });
    assert.equal(await program.exit(), 0);
  }
});

void test('an error that nobody catches ends the server with code 1, after shutDown has seen it', async (t) => {
  const program = start(t, server);
  await program.message();
  const url = await program.address();
  const told = program.message();
  await post(`${url}/batch`, { a: { name: 'Crash' } }).catch(() => {});
  assert.deepEqual(await told, { said: 'shutDown', error: 'nobody catches it' });
  assert.equal(await program.exit(), 1);
});

void test('a plugin that cannot be initialized ends the server with code 1, before it listens', async (t) => {
  const program = start(t, server, 'fails');
  assert.deepEqual(await program.message(), { said: 'initialize' });
  assert.deepEqual(await program.message(), { said: 'shutDown', error: 'no database' });
  assert.equal(await program.exit(), 1);
});

void test('a shutDown hook that fails is code 1', async (t) => {
  const program = start(t, server, 'fails late');
  await program.message();
  await program.address();
  program.child.kill('SIGTERM');
  assert.equal(await program.exit(), 1);
});

void test('an Express app keeps its own routes, and has the batches', async (t) => {
  const program = start(t, server, 'express');
  await program.message();
  const url = await program.address();
  assert.deepEqual(await send(`${url}/health`, 'GET', {}), { status: 200, text: 'well' });
  const { answer } = await post(`${url}/batch`, { a: { name: 'Text', data: 1 } });
  assert.equal(resultOf(answer, 'a').html, '<p>1</p>');
  assert.equal((await send(`${url}/batch`, 'GET', {})).status, 404);
});
