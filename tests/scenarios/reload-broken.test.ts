// A new version that does not come up: the present one stays, and whoever asked is told why, with the app's own words.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pidOf, running, statusWhen } from './scenario.ts';
import { Load, type Version, Versions, allOf, answering, reload } from './versions.ts';

interface Broken {
  what: string;
  version: Version;
  /** Of the configuration that comes into force with it; the version before has all the time that it needs. */
  config?: string;
  reason: RegExp;
}

const broken: Broken[] = [
  {
    what: 'throws at its start',
    version: { version: 'two', throws: 'the reason stands here' },
    reason: /exited before it accepted requests: exit code 1\..*stderr:.*Error: the reason stands here/s,
  },
  {
    what: 'never listens',
    version: { version: 'two', never_listens: true },
    config: '[workers]\nstart_timeout_ms = 1500\n',
    reason: /did not listen within workers\.start_timeout_ms/,
  },
];

const inFile = (paths: string) => `[warm_up]\npaths = ${paths}\n`;

for (const { what, version, config, reason } of broken) {
  void test(`a version that ${what} is given up, and clients notice nothing`, async (t) => {
    const versions = new Versions(t, { version: 'one' });
    const sluice = await running(t, {
      entry: versions.app,
      workers: 2,
      config: '',
      env: versions.env,
    });
    const load = new Load(t, sluice);
    const before = (await allOf(sluice, 1, 2)).workers.map(({ pid }) => pid);
    versions.next(version);
    if (config !== undefined) fs.writeFileSync(path.join(sluice.dir, 'sluice.toml'), config);
    const { code, stderr } = await sluice.cli(['reload']);
    assert.equal(code, 1);
    assert.match(stderr, /generation 2 is abandoned: /);
    assert.match(stderr, reason);
    assert.match(stderr, /The previous version continues/);
    const now = await allOf(sluice, 1, 2);
    assert.deepEqual(
      now.workers.map(({ pid }) => pid),
      before,
    );
    assert.deepEqual([now.generation, now.reload?.state], [1, 'abandoned']);
    assert.deepEqual(Object.keys(await load.end()), ['one']);
    const metrics = await (await fetch(`${sluice.admin}/metrics`)).text();
    assert.match(metrics, /^sluice_reloads_total\{result="abandoned"\} 1$/m);

    versions.next({ version: 'three' });
    fs.writeFileSync(path.join(sluice.dir, 'sluice.toml'), '');
    await reload(sluice);
    await allOf(sluice, 3, 2);
    assert.equal(await answering(sluice), 'three');
  });
}

void test('a version whose warm-up is answered with 500 is given up', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const config = inFile('["/", "/shop"]');
  const sluice = await running(t, { entry: versions.app, config, env: versions.env });
  await allOf(sluice, 1, 2);
  const load = new Load(t, sluice);
  versions.next({ version: 'two', fails_at: '/shop' });
  const { code, stderr } = await sluice.cli(['reload']);
  assert.equal(code, 1);
  assert.match(stderr, /the warm-up of worker \d+ failed: \/shop was answered with status 500/);
  assert.equal(await answering(sluice), 'one');
  await statusWhen(sluice, ({ workers }) => workers.length === 2, 'the end of the new worker');
  assert.deepEqual(Object.keys(await load.end()), ['one']);
});

void test('a program that is not there is told before anything is started', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const config = `[app]\nentry = "${versions.app}"\n`;
  const sluice = await running(t, { config, env: versions.env });
  await allOf(sluice, 1, 2);
  fs.writeFileSync(`${sluice.dir}/sluice.toml`, `[app]\nentry = "${versions.dir}/gone.js"\n`);
  const { code, stderr } = await sluice.cli(['reload']);
  assert.equal(code, 1);
  assert.match(stderr, /no reload: SLU-ENTRY-MISSING: .*gone\.js/);
  assert.deepEqual([(await sluice.status()).generation, await answering(sluice)], [1, 'one']);
});

void test('a worker that somebody kills in its warm-up was killed from outside, not by the gateway', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const sluice = await running(t, {
    entry: versions.app,
    workers: 1,
    config: inFile('["/slow"]'),
    env: versions.env,
  });
  await allOf(sluice, 1, 1);
  versions.next({ version: 'two', hangs_at: '/slow' });
  const reloading = sluice.cli(['reload']);
  const { workers } = await statusWhen(
    sluice,
    (now) => now.workers.some(({ state }) => state === 'warming') && versions.warmUps.length > 1,
    'a worker that is warmed',
  );
  process.kill(pidOf(workers.find(({ state }) => state === 'warming')), 'SIGKILL');
  const { code, stderr } = await reloading;
  assert.equal(code, 1);
  assert.match(stderr, /exited before it accepted requests: signal 9 \(SIGKILL\): killed from outside/);
  assert.ok(!sluice.stdout.includes('(SIGKILL) by the gateway'), sluice.stdout);
  assert.equal(await answering(sluice), 'one');
});
