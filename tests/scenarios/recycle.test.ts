// Healthy workers are replaced after so many requests, under load: nothing is lost, and the pool is never
// smaller than it should be.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { allReady, ask, bytesOf, gone, Hold, pidOf, running, statusWhen } from './scenario.ts';
import { assertNeverFewer, recycled } from './recycled.ts';
import { Load, Versions } from './versions.ts';

void test('I3: recycling by requests under load loses no request and leaves no gap', async (t) => {
  const versions = new Versions(t, { version: 'one', works_ms: 2 });
  const env = { ...versions.env, SLUICE_RECYCLE_REQUESTS_MAX: '40' };
  const sluice = await running(t, { entry: versions.app, workers: 2, env });
  const load = new Load(t, sluice, { clients: 6 });
  await recycled(sluice, 'requests', 5);
  assert.deepEqual(Object.keys(await load.end()), ['one']);
  const { workers, overlaps_total } = await sluice.status();
  assert.equal(overlaps_total, 0);
  assert.ok(workers.every(({ restarts_total }) => restarts_total === 0));
  assertNeverFewer(sluice, 2);
});

void test('a worker that is due finishes the POST that it holds', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, HOLD_MAX: '2', SLUICE_RECYCLE_REQUESTS_MAX: '1' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env, flags: ['--concurrency', '2'] });
  const old = pidOf((await allReady(sluice, 1)).workers[0]);
  const client = await RawConnection.connect(sluice.port);
  client.send(bytesOf('/hold/it', 'Content-Length: 0\r\n', 'POST'));
  await hold.began('/hold/it');
  assert.equal(hold.pidOf('/hold/it'), old);
  assert.equal((await ask(sluice, '/wears-out')).body.toString(), `${old}\n`);
  await statusWhen(
    sluice,
    ({ workers }) =>
      workers.some(({ pid, state }) => pid === old && state === 'leaving') &&
      workers.some(({ pid, state }) => pid !== old && state === 'ready'),
    'a successor that has taken over',
  );
  hold.release('it');
  assert.equal((await client.response()).body.toString(), `${old}\n`);
  client.close();
  await gone([old]);
});

void test('a successor that does not come up costs nothing: the old one serves until one does', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const env = {
    ...versions.env,
    SLUICE_RECYCLE_REQUESTS_MAX: '30',
    ...bounds({ backoff_ms_min: 1, backoff_ms_max: 50 }),
  };
  const sluice = await running(t, { entry: versions.app, workers: 1, env });
  const old = pidOf((await allReady(sluice, 1)).workers[0]);
  versions.next({ version: 'broken', throws: 'on purpose' });
  const load = new Load(t, sluice, { clients: 2 });
  await eventually(() => sluice.logs.filter(({ event }) => event === 'worker_start_failed').length >= 3, {
    what: 'three successors that failed',
  });
  const served = await sluice.status();
  assert.ok(served.workers.some(({ pid }) => pid === old));
  versions.next({ version: 'two' });
  await load.has('two');
  assert.deepEqual(Object.keys(await load.end()).sort(), ['one', 'two']);
  await gone([old]);
});
