// `workers.wait_ready`: an app that listens early says itself when it can serve.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { running, statusWhen } from './scenario.ts';
import { Load, Versions, allOf, reload } from './versions.ts';

const waits = { SLUICE_WORKERS_WAIT_READY: 'true' };

void test('a worker is ready once it listens and has said so', async (t) => {
  const versions = new Versions(t, { version: 'one', ready_after_ms: 1_000 });
  const sluice = await running(t, { entry: versions.app, env: { ...versions.env, ...waits } });
  await allOf(sluice, 1, 2);
  const ready = await eventually(() => {
    const lines = sluice.logs.filter((line) => line['event'] === 'worker_ready');
    return lines.length === 2 ? lines : undefined;
  });
  assert.ok(
    ready.every((line) => Number(line['after_ms']) >= 1_000),
    JSON.stringify(ready),
  );
  const load = new Load(t, sluice);
  // The order does not matter: this one says it before it listens.
  versions.next({ version: 'two', ready_after_ms: 0, listens_after_ms: 700 });
  await reload(sluice);
  await load.has('two');
  assert.deepEqual(Object.keys(await load.end()).sort(), ['one', 'two']);
});

void test('a new version that listens and never says ready is given up, and the reason says so', async (t) => {
  const versions = new Versions(t, { version: 'one', ready_after_ms: 0 });
  const env = { ...versions.env, ...waits, SLUICE_WORKERS_START_TIMEOUT_MS: '2000' };
  const sluice = await running(t, { entry: versions.app, env });
  await allOf(sluice, 1, 2);
  versions.next({ version: 'two' });
  const { code, stderr } = await sluice.cli(['reload']);
  assert.equal(code, 1);
  assert.match(stderr, /did not send `ready` \(workers\.wait_ready\) within workers\.start_timeout_ms/);
  await allOf(sluice, 1, 2);
});

void test('an app that never says ready does not start, and the error names what is missing', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const env = { ...versions.env, ...waits, SLUICE_WORKERS_START_TIMEOUT_MS: '1500' };
  const sluice = await running(t, { entry: versions.app, workers: 1, env, waitUntilReady: false });
  const finished = await sluice.finished(20_000);
  assert.equal(finished.code, 4);
  assert.match(finished.stderr, /SLU-APP-NEVER-READY.*process\.send\('ready'\)/s);
});

void test('without wait_ready what an app says changes nothing', async (t) => {
  const versions = new Versions(t, { version: 'one', ready_after_ms: 0, listens_after_ms: 300 });
  const sluice = await running(t, { entry: versions.app, env: versions.env });
  await statusWhen(sluice, ({ workers }) => workers.every(({ state }) => state === 'ready'), 'ready workers');
});
