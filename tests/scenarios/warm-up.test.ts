// Workers are warmed with requests of the gateway's own before clients' requests come to them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { ask, running } from './scenario.ts';
import { Load, Versions, allOf, reload } from './versions.ts';

void test('a new worker has answered every path of warm_up.paths before it takes over', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const config = '[warm_up]\npaths = ["/", "/shop?page=2", "/large", "/events"]\n';
  const env = { ...versions.env, ...bounds({ warm_up_requests_max: 8 }) };
  const sluice = await running(t, { entry: versions.app, workers: 2, config, env });
  await allOf(sluice, 1, 2);
  const load = new Load(t, sluice);
  await load.has('one', 10);
  versions.next({ version: 'two' });
  const told = await reload(sluice);
  assert.match(told, /worker \d+ listens/);
  await load.has('two', 10);
  assert.deepEqual(Object.keys(await load.end()).sort(), ['one', 'two']);
  const now = await allOf(sluice, 2, 2);
  for (const worker of now.workers) {
    const own = versions.warmUps.filter(({ pid }) => pid === worker.pid);
    assert.deepEqual(new Set(own.map(({ url }) => url)), new Set(['/', '/shop?page=2', '/large', '/events']));
    assert.ok(own.length <= 8, `${own.length} requests`);
    for (const { headers } of own) {
      assert.equal(headers['host'], `localhost:${sluice.port}`);
      assert.ok(!('x-sluice-request' in headers), 'nothing private reaches the app');
    }
    assert.equal(worker.streams, 0);
  }
  assert.equal(now.overlaps_total, 0);
  assert.ok(
    !sluice.logs.some((line) => line['event'] === 'access' && String(line['target']).startsWith('/shop')),
    'requests of the gateway itself are no access',
  );
});

void test('warming ends once service time no longer changes', async (t) => {
  const versions = new Versions(t, { version: 'one', works_ms: 5 });
  const config = '[warm_up]\npaths = ["/"]\n';
  const env = { ...versions.env, ...bounds({ warm_up_requests_max: 1000 }) };
  const sluice = await running(t, { entry: versions.app, workers: 1, config, env });
  await allOf(sluice, 1, 1);
  const asked = versions.warmUps.length;
  assert.ok(asked >= 10 && asked < 500, `${asked} requests`);
});

void test('serving beats warming: a request that waits while nobody is ready goes to the worker', async (t) => {
  const versions = new Versions(t, { version: 'one', works_ms: 50 });
  const config = '[warm_up]\npaths = ["/"]\n';
  const sluice = await running(t, {
    entry: versions.app,
    workers: 1,
    config,
    env: { ...versions.env, ...bounds({ warm_up_requests_max: 10_000, warm_up_timeout_ms: 600_000 }) },
    waitUntilReady: false,
  });
  await eventually(() => versions.warmUps.length > 0, { what: 'the first warm-up' });
  assert.equal((await ask(sluice, '/')).status, 200);
});

for (const paths of ['"/", "/slow"', '"/slow"']) {
  void test(`a version that never answers one of ${paths} takes over from nobody`, async (t) => {
    const versions = new Versions(t, { version: 'one' });
    const config = `[warm_up]\npaths = [${paths}]\n`;
    const env = { ...versions.env, ...bounds({ warm_up_timeout_ms: 500 }) };
    const sluice = await running(t, { entry: versions.app, workers: 2, config, env });
    await allOf(sluice, 1, 2);
    versions.next({ version: 'two', hangs_at: '/slow' });
    const told = await sluice.cli(['reload']);
    assert.equal(told.code, 1);
    assert.match(told.stderr + told.stdout, /\/slow was not answered within workers\.start_timeout_ms/);
    await allOf(sluice, 1, 2);
    assert.equal((await ask(sluice, '/')).body.toString(), 'one');
  });
}

void test('a worker that hangs while it is warmed replaces no healthy one', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const config = '[warm_up]\npaths = ["/", "/slow"]\n[recycle]\nrequests_max = 3\n';
  const env = { ...versions.env, ...bounds({ warm_up_timeout_ms: 300, backoff_ms_max: 200 }) };
  const sluice = await running(t, { entry: versions.app, workers: 1, config, env });
  await allOf(sluice, 1, 1);
  versions.next({ version: 'two', hangs_at: '/slow' });
  for (let index = 0; index < 6; index++) await ask(sluice, '/');
  await eventually(
    () => sluice.logs.some((line) => /warm-up of worker \d+ failed/.test(String(line['text']))),
    { what: 'a warm-up that failed' },
  );
  for (let index = 0; index < 6; index++) assert.equal((await ask(sluice, '/')).body.toString(), 'one');
});

void test('the path of warm_up.paths that ends its worker is named', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const config = '[warm_up]\npaths = ["/", "/deadly", "/shop"]\n';
  const sluice = await running(t, { entry: versions.app, workers: 2, config, env: versions.env });
  await allOf(sluice, 1, 2);
  versions.next({ version: 'two', dies_at: '/deadly' });
  const told = await sluice.cli(['reload']);
  assert.equal(told.code, 1);
  assert.match(told.stderr + told.stdout, /exit code 3.*\/deadly made the worker unusable/);
  const abandoned = await eventually(() => sluice.logs.find(({ event }) => event === 'reload_abandoned'));
  assert.match(String(abandoned['reason']), /\/deadly/);
  await allOf(sluice, 1, 2);
});

void test('a first worker that dies of a path of warm_up.paths says of which', async (t) => {
  const versions = new Versions(t, { version: 'one', dies_at: '/deadly' });
  const config = '[warm_up]\npaths = ["/deadly"]\n';
  const sluice = await running(t, {
    entry: versions.app,
    workers: 1,
    config,
    env: versions.env,
    waitUntilReady: false,
  });
  await eventually(
    () => sluice.logs.some(({ text }) => /warm-up of worker 1 failed: \/deadly/.test(String(text))),
    { what: 'the name of the path' },
  );
});
