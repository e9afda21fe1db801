// A new version of the app takes the place of the present one while clients go on asking, and none of them notices.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { gone, nothingLeftOf, pidOf, running, sent, statusWhen } from './scenario.ts';
import { Load, Versions, allOf, answering, reload } from './versions.ts';

void test('I3: a reload of every worker under load loses no request and no connection', async (t) => {
  const versions = new Versions(t, { version: 'one', works_ms: 3 });
  const sluice = await running(t, { entry: versions.app, workers: 4, env: versions.env });
  const load = new Load(t, sluice, { clients: 8 });
  await load.has('one', 50);
  versions.next({ version: 'two', works_ms: 3 });
  const told = await reload(sluice);
  assert.match(told, /generation 2 started/);
  assert.match(told, /1 of 4 workers have taken over/);
  assert.match(told, /4 of 4 workers have taken over\ndone in [\d.]+ s\n$/);
  await load.has('two', 50);
  const answers = await load.end();
  assert.deepEqual(Object.keys(answers).sort(), ['one', 'two'], JSON.stringify(answers));
  const now = await allOf(sluice, 2, 4);
  assert.deepEqual([now.generation, now.reload?.state, now.overlaps_total], [2, 'done', 0]);
  assert.deepEqual(new Set(now.workers.map(({ restarts_total }) => restarts_total)), new Set([0]));
  const metrics = await (await fetch(`${sluice.admin}/metrics`)).text();
  assert.match(metrics, /^sluice_reloads_total\{result="done"\} 1$/m);
  assert.match(metrics, /^sluice_generation 2$/m);
});

for (const signal of ['SIGHUP', 'SIGUSR2'] as const) {
  void test(`${signal} reloads, and the log tells how it went`, async (t) => {
    const versions = new Versions(t, { version: 'one' });
    const sluice = await running(t, { entry: versions.app, env: versions.env });
    await allOf(sluice, 1, 2);
    versions.next({ version: 'two' });
    sluice.signal(signal);
    await allOf(sluice, 2, 2);
    assert.equal(await answering(sluice), 'two');
    const line = (event: string) => sluice.logs.find((line) => line['event'] === event);
    assert.equal(line('reload_started')?.['by'], signal);
    const finished = await eventually(() => line('reload_finished'));
    assert.equal(finished['generation'], 2);
  });
}

void test('a reload during a reload takes its place, and the first command follows it', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const sluice = await running(t, { entry: versions.app, env: versions.env });
  await allOf(sluice, 1, 2);
  const load = new Load(t, sluice);
  versions.next({ version: 'two', listens_after_ms: 60_000 });
  const first = sluice.cli(['reload']);
  // Not merely started: a worker that reads its version later would be of the next one.
  await eventually(() => sluice.stdout.includes('runs two'), { what: 'the first reload' });
  versions.next({ version: 'three' });
  assert.match(await reload(sluice), /^generation 3 started/);
  const { code, stdout } = await first;
  assert.equal(code, 0);
  assert.match(
    stdout,
    /generation 2 is abandoned: a later reload replaced it; the next lines are of generation 3/,
  );
  assert.match(stdout, /done in/);
  await allOf(sluice, 3, 2);
  await load.has('three');
  assert.deepEqual(Object.keys(await load.end()).sort(), ['one', 'three']);
});

void test('the number of workers can be changed while a reload runs', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const sluice = await running(t, { entry: versions.app, env: versions.env });
  await allOf(sluice, 1, 2);
  const load = new Load(t, sluice);
  versions.next({ version: 'two', listens_after_ms: 500 });
  const reloading = reload(sluice);
  await statusWhen(sluice, ({ reload }) => reload?.state === 'running', 'the reload');
  assert.equal((await sluice.cli(['scale', '4'])).code, 0);
  await reloading;
  await allOf(sluice, 2, 4);
  versions.next({ version: 'three', listens_after_ms: 500 });
  const again = reload(sluice);
  await statusWhen(sluice, ({ reload }) => reload?.state === 'running', 'the second reload');
  assert.equal((await sluice.cli(['scale', '1'])).code, 0);
  await again;
  await allOf(sluice, 3, 1);
  await load.has('three');
  assert.deepEqual(Object.keys(await load.end()).sort(), ['one', 'three', 'two']);
});

void test('what may change in the configuration applies with the reload, and the rest is named', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const config = (rest: string) =>
    `[app]\nentry = "${versions.app}"\n[app.env]\nVERSION_FILE = "${versions.env['VERSION_FILE']}"\n${rest}`;
  const sluice = await running(t, { config: config('') });
  const file = path.join(sluice.dir, 'sluice.toml');

  fs.writeFileSync(file, config('[queue]\nlength_max = 7\n[temp]\nbytes_max = 1000000\n'));
  const told = await reload(sluice);
  assert.match(told, /changed, and needs a restart to apply: temp\.bytes_max\n/);
  assert.equal((await sluice.status()).queue.length_max, 7);

  fs.writeFileSync(file, config('[queue]\nlength_max = "many"\n'));
  const { code, stderr } = await sluice.cli(['reload']);
  assert.equal(code, 1);
  assert.match(stderr, /no reload: .*queue\.length_max/s);
  const now = await sluice.status();
  assert.deepEqual([now.generation, now.queue.length_max, await answering(sluice)], [2, 7, 'one']);
  const metrics = await (await fetch(`${sluice.admin}/metrics`)).text();
  assert.match(metrics, /^sluice_reloads_total\{result="refused"\} 1$/m);

  // A version that does not come up takes its configuration with it.
  versions.next({ version: 'broken', throws: 'on purpose' });
  fs.writeFileSync(file, config('[queue]\nlength_max = 9\n'));
  assert.equal((await sluice.cli(['reload'])).code, 1);
  assert.equal((await sluice.status()).queue.length_max, 7);
});

void test('workers.count applies where it was changed, and else the pool stays as it was scaled', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const config = (count: number) => `[app]\nentry = "${versions.app}"\n[workers]\ncount = ${count}\n`;
  const sluice = await running(t, { config: config(1), workers: null, env: versions.env });
  assert.equal((await sluice.cli(['scale', '2'])).code, 0);
  await reload(sluice);
  await allOf(sluice, 2, 2);
  fs.writeFileSync(path.join(sluice.dir, 'sluice.toml'), config(3));
  assert.match(await reload(sluice), /workers wanted: 3, were 2/);
  await allOf(sluice, 3, 3);
});

void test('a changed workers.count applies although its reload was overtaken by another', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const config = (count: number) => `[app]\nentry = "${versions.app}"\n[workers]\ncount = ${count}\n`;
  const sluice = await running(t, { config: config(2), workers: null, env: versions.env });
  await allOf(sluice, 1, 2);
  fs.writeFileSync(path.join(sluice.dir, 'sluice.toml'), config(4));
  versions.next({ version: 'two', listens_after_ms: 400 });
  const first = sluice.cli(['reload']);
  await statusWhen(
    sluice,
    ({ workers }) => workers.some(({ generation, state }) => generation === 2 && state === 'ready'),
    'a worker that has taken over',
  );
  await reload(sluice);
  assert.equal((await first).code, 0);
  await allOf(sluice, 3, 4);
});

void test('a symbolic link to a release is followed anew', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  for (const release of ['a', 'b']) {
    const dir = path.join(versions.dir, release);
    fs.mkdirSync(dir);
    fs.copyFileSync(versions.app, path.join(dir, 'server.js'));
    fs.writeFileSync(path.join(dir, 'package.json'), '{ "main": "server.js" }');
    fs.writeFileSync(path.join(dir, 'version.json'), JSON.stringify({ version: release }));
  }
  const current = path.join(versions.dir, 'current');
  fs.symlinkSync('a', current);
  const env = { PWD: current, VERSION_FILE: 'version.json' };
  const sluice = await running(t, { cwd: current, env });
  assert.equal(await answering(sluice), 'a');
  fs.symlinkSync('b', `${current}.new`);
  fs.renameSync(`${current}.new`, current);
  await reload(sluice);
  assert.equal(await answering(sluice), 'b');
});

void test('a worker that ignores SIGTERM is killed in its time, after the reload', async (t) => {
  const versions = new Versions(t, { version: 'one', ignores_sigterm: true });
  const env = { ...versions.env, SLUICE_WORKERS_STOP_TIMEOUT_MS: '500' };
  const sluice = await running(t, { entry: versions.app, env });
  await allOf(sluice, 1, 2);
  const before = (await sluice.status()).workers.map(pidOf);
  versions.next({ version: 'two' });
  await reload(sluice);
  await gone(before);
  await allOf(sluice, 2, 2);
  assert.ok(sluice.logs.some(({ text }) => /did not exit in time/.test(String(text))));
});

void test('streams of a replaced worker go on for half of its time to leave', async (t) => {
  const versions = new Versions(t, { version: 'one' });
  const env = { ...versions.env, SLUICE_WORKERS_STOP_TIMEOUT_MS: '6000' };
  const sluice = await running(t, { entry: versions.app, workers: 1, env });
  const stream = await sent(sluice, '/events');
  await stream.untilBytes('data: one');
  versions.next({ version: 'two' });
  await reload(sluice);
  const reloaded = performance.now();
  assert.equal(await answering(sluice), 'two');
  await stream.untilClosed();
  const lasted_ms = performance.now() - reloaded;
  assert.ok(lasted_ms > 1_000 && lasted_ms < 5_500, `${lasted_ms} ms`);
  await allOf(sluice, 2, 1);
});

void test('a command that is interrupted leaves the reload alone', async (t) => {
  const program = process.env['SLUICE_BINARY'];
  if (program === undefined) return t.skip('needs SLUICE_BINARY');
  const versions = new Versions(t, { version: 'one' });
  const sluice = await running(t, { entry: versions.app, env: versions.env });
  await allOf(sluice, 1, 2);
  versions.next({ version: 'two', listens_after_ms: 500 });
  const command = spawn(program, ['reload', '--run-dir', sluice.runDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(command.stdout, 'data');
  command.kill('SIGINT');
  await once(command, 'exit');
  await allOf(sluice, 2, 2);
});

void test('a reload is refused while the first start is under way, and while the gateway leaves', async (t) => {
  const versions = new Versions(t, { version: 'one', listens_after_ms: 1_500 });
  const env = { ...versions.env, SLUICE_DRAIN_DELAY_MS: '60000' };
  const sluice = await running(t, { entry: versions.app, env, waitUntilReady: false });
  await statusWhen(sluice, ({ state }) => state === 'starting', 'the start');
  const early = await sluice.cli(['reload']);
  assert.equal(early.code, 1);
  assert.match(early.stderr, /the first start is still in progress/);
  await allOf(sluice, 1, 2);
  sluice.signal('SIGTERM');
  await statusWhen(sluice, ({ state }) => state === 'draining', 'the drain');
  const late = await sluice.cli(['reload']);
  assert.equal(late.code, 1);
  assert.match(late.stderr, /the gateway is stopping/);
  await new Promise((resolve) => setTimeout(resolve, 200));
  sluice.signal('SIGTERM');
  await sluice.finished();
  await nothingLeftOf(sluice);
});
