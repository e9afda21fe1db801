// Libraries that keep state in the process are reported as the app uses them. Each stands here as one file at its own path.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { FakeGateway, type Line } from './fake-gateway.js';

const LIBRARIES: Readonly<Record<string, string>> = {
  'express-session/session/memory.js': 'module.exports = class MemoryStore { sessions = {}; };',
  'memorystore/lib/memorystore.js': 'module.exports = () => {};',
  'faye/src/adapters/node_adapter.js':
    'module.exports = function NodeAdapter(options) { this.initialize(options); };' +
    'module.exports.prototype.initialize = function (options) { this.given = options; };',
  'json-server/lib/server/router/index.js': 'module.exports = () => {};',
  '@colyseus/core/build/MatchMaker.js':
    'class LocalDriver {} class RedisDriver {}' +
    'module.exports = { set: (id, isLocal) => Object.assign(module.exports, ' +
    '{ processId: id, driver: isLocal ? new LocalDriver() : new RedisDriver(), onReady: Promise.resolve() }) };',
};
const LISTEN = "require('node:http').createServer((req, res) => res.end('page')).listen(process.env.PORT);";

async function reported(context: TestContext, script: string): Promise<Line[]> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-state-'));
  context.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(LIBRARIES)) {
    const file = path.join(folder, 'node_modules', name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
  const entry = path.join(folder, 'app.js');
  fs.writeFileSync(entry, `${script}\n${LISTEN}\n`);
  const gateway = await FakeGateway.serve(path.relative(path.join(import.meta.dirname, 'fixtures'), entry));
  context.after(() => gateway.stop());
  assert.equal((await gateway.ask()).body, 'page', gateway.output);
  return gateway.lines.filter(({ type }) => type === 'keeps-state');
}

const cases: Readonly<Record<string, readonly [script: string, lines: readonly object[]]>> = {
  'express-session with its default store': [
    "const Store = require('express-session/session/memory.js'); const made = [new Store(), new Store()];" +
      "if (!(made[0] instanceof Store) || made[0].sessions === undefined) throw new Error('another store');",
    [{ library: 'express-session' }],
  ],
  'express-session with another store': ["require('express-session/session/memory.js');", []],
  memorystore: ["require('memorystore/lib/memorystore.js');", [{ library: 'memorystore' }]],
  'a server of Faye': [
    "const Adapter = require('faye/src/adapters/node_adapter.js'); const made = new Adapter({ mount: '/faye' });" +
      "if (made.given.mount !== '/faye') throw new Error('lost');",
    [{ library: 'faye', mount: '/faye' }],
  ],
  'a server of Faye without a path': [
    "new (require('faye/src/adapters/node_adapter.js'))();",
    [{ library: 'faye', mount: '/bayeux' }],
  ],
  'a server of Faye with an engine that others share': [
    "new (require('faye/src/adapters/node_adapter.js'))({ mount: '/faye', engine: { type: {} } });",
    [],
  ],
  'a client of Faye': ["require('faye/src/adapters/node_adapter.js');", []],
  'json-server': ["require('json-server/lib/server/router/index.js');", [{ library: 'json-server' }]],
  'Colyseus with rooms of its own': [
    "require('@colyseus/core/build/MatchMaker.js').set('aBcD12345', true);",
    [{ library: 'colyseus', name: 'aBcD12345' }],
  ],
  'Colyseus with rooms that others find': [
    "require('@colyseus/core/build/MatchMaker.js').set('aBcD12345', false);",
    [{ library: 'colyseus', name: 'aBcD12345', shared: true }],
  ],
  'Colyseus that is not set up': ["require('@colyseus/core/build/MatchMaker.js');", []],
  'none of them': ['', []],
};

for (const [name, [script, lines]] of Object.entries(cases))
  test(`${name}: ${lines.length === 0 ? 'nothing' : 'the library'} is reported`, async (t) => {
    const found = await reported(t, script);
    assert.deepEqual(
      found.map(({ type: _type, ...rest }) => rest),
      lines,
    );
  });

/** Answers with what Colyseus' module found in the environment when it was run. */
const MODULES: Readonly<Record<string, string>> = {
  'package.json': '{ "type": "module", "dependencies": { "@colyseus/core": "*" } }',
  'node_modules/@colyseus/core/package.json': '{ "name": "@colyseus/core" }',
  'node_modules/@colyseus/core/build/MatchMaker.mjs':
    'class LocalDriver {} export const seat = process.env.SEAT ?? "none"; export const driver = new LocalDriver();' +
    'export let processId, onReady; export const set = (id) => { processId = id; };',
  'env.js': 'process.env.SEAT = "60";',
  'app.js':
    "import './env.js'; import http from 'node:http'; import { seat, set } from './node_modules/@colyseus/core/build/MatchMaker.mjs';" +
    "set('eFgH67890'); http.createServer((req, res) => res.end(seat)).listen(process.env.PORT);",
};

test('Colyseus as a module is reported, and run no earlier than the app imports it', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-state-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(MODULES)) {
    const file = path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
  const entry = path.join(folder, 'app.js');
  const gateway = await FakeGateway.serve(path.relative(path.join(import.meta.dirname, 'fixtures'), entry));
  t.after(() => gateway.stop());
  const { library, name } = await gateway.line('keeps-state', () => true);
  assert.deepEqual([library, name, (await gateway.ask()).body], ['colyseus', 'eFgH67890', '60']);
});
