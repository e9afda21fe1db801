// Workers that do not leave when asked: SIGKILL ends them once `workers.stop_timeout_ms` is over, not before, and nobody who
// was promised an answer pays for it. `reload.test.ts` has the same for a reload.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allReady, gone, isAlive, nothingLeftOf, pidOf, running, statusWhen } from './scenario.ts';
import { logged, metric } from './stuck.ts';
import { Load, Versions } from './versions.ts';

const STOP_TIMEOUT_MS = 800;

void test('a stop takes as long as workers may take, and leaves none of them', async (t) => {
  const versions = new Versions(t, { version: 'one', ignores_sigterm: true });
  const env = { ...versions.env, SLUICE_WORKERS_STOP_TIMEOUT_MS: String(STOP_TIMEOUT_MS) };
  const sluice = await running(t, { entry: versions.app, workers: 2, env });
  const pids = (await allReady(sluice, 2)).workers.map(pidOf);
  const began = performance.now();
  const { code } = await sluice.cli(['stop']);
  const took_ms = performance.now() - began;
  assert.equal(code, 0);
  assert.equal((await sluice.finished()).code, 0);
  // By default they would have ten seconds.
  assert.ok(took_ms >= STOP_TIMEOUT_MS - 50 && took_ms < 9_000, `it took ${took_ms} ms`);
  await gone(pids);
  await nothingLeftOf(sluice);
  const exits = sluice.logs.filter(({ event }) => event === 'worker_exited');
  assert.deepEqual(
    exits.map(({ reason, expected }) => [reason, expected]),
    pids.map(() => ['stop_timeout', true]),
  );
});

void test('a pool that is scaled down gets rid of them too, and serves meanwhile', async (t) => {
  const versions = new Versions(t, { version: 'one', ignores_sigterm: true });
  const env = { ...versions.env, SLUICE_WORKERS_STOP_TIMEOUT_MS: String(STOP_TIMEOUT_MS) };
  const sluice = await running(t, { entry: versions.app, workers: 2, env });
  await allReady(sluice, 2);
  const load = new Load(t, sluice);
  assert.equal((await sluice.cli(['scale', '1'])).code, 0);
  const { workers } = await statusWhen(sluice, (now) => now.workers.length === 1, 'one worker');
  await load.has('one', 100);
  assert.deepEqual(Object.keys(await load.end()), ['one']);
  assert.ok(isAlive(pidOf(workers[0])));
  assert.equal((await logged(sluice, 'worker_exited'))['reason'], 'stop_timeout');
  assert.equal(await metric(sluice, 'sluice_worker_exits_total{reason="stop_timeout",expected="true"}'), 1);
});
