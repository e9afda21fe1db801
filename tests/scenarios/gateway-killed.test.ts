// The gateway dies by SIGKILL: none of what it started survives it.
// Part of `make quick`.
import fs from 'node:fs';
import path from 'node:path';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../support/ports.ts';
import { app, runSluice } from '../support/sluice.ts';
import {
  allReady,
  gone,
  nothingLeftOf,
  ownApp,
  pidOf,
  processesOf,
  running,
  sent,
  statusWhen,
} from './scenario.ts';

void test('no worker survives a gateway that is killed', async (t) => {
  const sluice = await running(t, { entry: app('trivial.js'), workers: 3 });
  const pids = (await allReady(sluice, 3)).workers.map(pidOf);
  await sluice.kill9();
  await nothingLeftOf(sluice);
  await gone(pids);
});

void test('a worker in an endless loop does not survive it either', async (t) => {
  const sluice = await running(t, { entry: ownApp('unusual.js'), workers: 1 });
  const client = await sent(sluice, '/block');
  const pid = pidOf(
    (await statusWhen(sluice, ({ workers }) => workers[0]?.state === 'busy', 'a busy worker')).workers[0],
  );
  await sluice.kill9();
  await nothingLeftOf(sluice);
  await gone([pid]);
  client.close();
});

void test('nor does anything between the gateway and an app that npm started', async (t) => {
  const dir = fs.mkdtempSync('/tmp/slu-npm-');
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const scripts = { start: `node ${app('trivial.js')}` };
  fs.writeFileSync(path.join(dir, 'package.json'), JSON.stringify({ private: true, scripts }));
  const sluice = await running(t, { command: ['npm', 'run', 'start'], cwd: dir, workers: 2 });
  await allReady(sluice, 2);
  if (fs.existsSync('/proc/self')) assert.ok(processesOf(sluice).length > 2, 'npm stands between');
  await sluice.kill9();
  await nothingLeftOf(sluice);
});

void test('a new gateway takes over the run directory of a killed one', async (t) => {
  const first = await running(t, { entry: app('trivial.js'), workers: 1 });
  await first.kill9();
  assert.equal((await first.cli(['status'])).code, 3);
  await nothingLeftOf(first);
  const port = String(await freePort());
  const args = [
    'start',
    app('exits-at-start.js'),
    '--port',
    port,
    '--admin',
    'off',
    '--run-dir',
    first.runDir,
  ];
  // It gets as far as starting the app, which is all that the run directory can stand in the way of.
  assert.equal((await runSluice(args)).code, 4);
});
