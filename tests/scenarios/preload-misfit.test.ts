// A preload of another build than the gateway serves, and the log says once that the two differ.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { app, repositoryDir, type Sluice } from '../support/sluice.ts';
import { allReady, ask, running } from './scenario.ts';

const misfits = (sluice: Sluice) => sluice.logs.filter(({ text }) => /from another build/.test(String(text)));

void test('a preload of another build is named once with both versions, and serves', async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-misfit-'));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  fs.cpSync(path.join(repositoryDir, 'packages/preload/dist'), path.join(dir, 'dist'), { recursive: true });
  const manifest = fs.readFileSync(path.join(repositoryDir, 'packages/preload/package.json'), 'utf8');
  fs.writeFileSync(path.join(dir, 'package.json'), manifest.replace(/"version": ".*"/, '"version": "0.0.9"'));
  const messages = path.join(dir, 'dist/control/messages.js');
  const text = fs.readFileSync(messages, 'utf8');
  assert.match(text, /PROTOCOL = '[0-9a-f]{16}'/);
  fs.writeFileSync(messages, text.replace(/(PROTOCOL = ')[0-9a-f]{16}/, '$10123'));
  const env = { SLUICE_PRELOAD: path.join(dir, 'dist/index.js') };
  const sluice = await running(t, { entry: app('echo.js'), workers: 2, env });
  await allReady(sluice, 2);
  assert.equal((await ask(sluice, '/')).status, 200);
  await eventually(() => misfits(sluice).length > 0, { what: 'the warning' });
  assert.equal(misfits(sluice).length, 1);
  const [{ level, text: said } = {}] = misfits(sluice);
  assert.equal(level, 'warn');
  assert.match(
    String(said),
    /\(version 0\.0\.9, protocol 0123\) .* \(version \d+\.\d+\.\d+, protocol [0-9a-f]{16}\)/,
  );
});

void test('nothing is said of one of the same build', async (t) => {
  const sluice = await running(t, { entry: app('echo.js'), workers: 1 });
  assert.equal((await ask(sluice, '/')).status, 200);
  assert.deepEqual(misfits(sluice), []);
});
