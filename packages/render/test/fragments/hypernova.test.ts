// Servers that move from Hypernova: which options work, which say why they do not, and how a server starts and ends.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import hypernova, {
  createGetComponent,
  getFiles,
  type HypernovaOptions,
} from '../../src/fragments/hypernova.js';
import { fragmentsOf } from '../../src/fragments/fragments.js';
import { hypernovaSource } from '../../src/fragments/hypernova-source.js';
import { runHalf } from '../../src/fragments/isomorphic.js';
import { start } from '../support/fork.js';
import { post, resultOf, send } from '../support/serve.js';

const server = path.join(import.meta.dirname, 'fixtures/hypernova-server.ts');
const getComponent = () => undefined;

void test('options that cannot be honoured are refused with what to do', () => {
  const refused: readonly (readonly [object, RegExp])[] = [
    [{}, /needs `getComponent`, a function/],
    [{ getComponent: 'text' }, /needs `getComponent`, a function/],
    [{ getComponent, getCPUs: 4 }, /Sluice decides how many workers run/],
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
  assert.equal(await getComponent('constructor'), undefined);
  await assert.rejects(getComponent('shop/Broken.js'), /broken bundle/);
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
