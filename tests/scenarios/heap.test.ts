// What an operator sees of a worker's heap, what the look does to the worker, and what is left when it is broken off.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { bounds } from '../support/bounds.ts';
import { app, type Sluice } from '../support/sluice.ts';
import { allReady, ask, ownApp, running, statusWhen, STRICT } from './scenario.ts';

/** What is there beside the gateway's own profiles of slow requests. */
const files = (sluice: Sluice): string[] =>
  fs
    .readdirSync(path.join(sluice.runDir, 'profiles'))
    .filter((file) => file !== 'tail')
    .sort();

/** A command that is not waited for. */
function begin(
  sluice: Sluice,
  args: string[],
): { over: Promise<number | null>; signal: (name: NodeJS.Signals) => void } {
  const child = spawn(process.env['SLUICE_BINARY'] ?? 'sluice', [...args, '--run-dir', sluice.runDir], {
    stdio: 'ignore',
  });
  const over = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  return { over, signal: (name) => void child.kill(name) };
}

const needsBinary = process.env['SLUICE_BINARY'] === undefined && 'it starts the binary itself';

void test('the function that allocates what stays is named, and so is the one that makes rubbish', async (t) => {
  const sluice = await running(t, { entry: ownApp('allocates.cjs'), workers: 1 });
  for (const [flag, target, name] of [
    ['--sampling', '/keep', 'keepMuch'],
    ['--allocations', '/waste', 'wasteMuch'],
  ] as const) {
    let isOver = false;
    const load = (async () => {
      while (!isOver) await ask(sluice, target);
    })();
    const { code, stdout, stderr } = await sluice.cli(['heap', flag, '--seconds', '2']);
    isOver = true;
    await load;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /keeps serving during the profile \(2 s\)/);
    const row = stdout.split('\n').find((line) => /allocates\.cjs:\d+$/.test(line)) ?? '';
    assert.ok(row.startsWith(name), stdout);
    assert.doesNotMatch(stdout, /served no request meanwhile/);
  }
  const kept = files(sluice);
  assert.deepEqual(kept.map((file) => path.extname(file)).sort(), [
    '.heapprofile',
    '.heapprofile',
    '.html',
    '.html',
  ]);
  for (const file of kept)
    assert.equal(fs.statSync(path.join(sluice.runDir, 'profiles', file)).mode & 0o777, 0o600);
});

void test('a look at a worker without requests says that none came', async (t) => {
  const sluice = await running(t, { entry: ownApp('allocates.cjs'), workers: 1 });
  const { code, stdout } = await sluice.cli(['heap', '--seconds', '0.2']);
  assert.equal(code, 0);
  assert.match(stdout, /^Worker 1 served no request meanwhile: .*--seconds\.\n\n.*by sampling/s);
});

void test('a worker that stands still for a snapshot is paused, is not judged, and serves again', async (t) => {
  // A snapshot on a busy machine takes longer than requests wait as installed.
  const config = '[workers]\nstuck_after_ms = 1500\n[queue]\nwait_ms_max = 110000\n';
  const env = bounds({ blocked_after_ms: 1500, overdue_after_ms: 500 });
  const sluice = await running(t, { entry: ownApp('allocates.cjs'), workers: 1, config, env });
  for (let count = 0; count < 8; count += 1) await ask(sluice, '/keep?n=50000');
  const snapshot = sluice.cli(['heap', '--snapshot', '--out', path.join(sluice.dir, 'shop')]);
  await statusWhen(
    sluice,
    ({ workers }) => workers.some(({ state }) => state === 'paused'),
    'a paused worker',
  );
  const waiting = ask(sluice, '/', { deadlineMs: 120_000 });
  const { code, stdout, stderr } = await snapshot;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /MiB on its heap: .* is blocked for about \d+ s, needs up to .* more memory/);
  assert.match(stdout, /shop\.heapsnapshot \(/);
  assert.ok(fs.readFileSync(path.join(sluice.dir, 'shop.heapsnapshot'), 'latin1').startsWith('{"snapshot"'));
  assert.equal((await waiting).status, 200);
  const { workers } = await sluice.status();
  assert.deepEqual(
    workers.map(({ id }) => id),
    [1],
    'nothing replaced it',
  );
  const judged = sluice.logs.filter(({ event }) =>
    ['worker_stuck', 'worker_overdue', 'long_run'].includes(String(event)),
  );
  assert.deepEqual(judged, []);
  assert.deepEqual(files(sluice), []);
});

void test(
  'a profile that is broken off leaves nothing, and the worker takes the next',
  { skip: needsBinary },
  async (t) => {
    const sluice = await running(t, { entry: app('spin.js'), workers: 2, flags: STRICT });
    await allReady(sluice, 2);
    for (const args of [
      ['profile', '--all', '--seconds', '30'],
      ['heap', '--seconds', '30'],
    ]) {
      const command = begin(sluice, args);
      await eventually(
        () => fs.existsSync(path.join(sluice.runDir, 'profiles')) && files(sluice).length === 1,
        {
          deadlineMs: 10_000,
          what: 'the directory that workers write into',
        },
      );
      command.signal('SIGINT');
      assert.equal(await command.over, 130);
      await eventually(() => files(sluice).length === 0, { deadlineMs: 10_000, what: 'an empty directory' });
    }
    const next = await sluice.cli(['profile', '--all', '--seconds', '0.1', '--json']);
    assert.equal(next.code, 0, next.stderr);
    assert.deepEqual((JSON.parse(next.stdout) as { workers: number[] }).workers, [1, 2]);
  },
);

void test(
  'a snapshot for which the disk has no room takes none of it',
  { skip: process.getuid?.() !== 0 && 'only root can mount a tmpfs' },
  async (t) => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-heap-'));
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', dir]).status !== 0) {
      fs.rmdirSync(dir);
      return t.skip('tmpfs cannot be mounted here');
    }
    t.after(() => {
      spawnSync('umount', ['-l', dir]);
      fs.rmdirSync(dir);
    });
    const sluice = await running(t, { entry: app('spin.js'), workers: 1, runDir: path.join(dir, 'run') });
    const free = (): number => fs.statfsSync(dir).bfree;
    const before = free();
    const { code, stderr } = await sluice.cli(['heap', '--snapshot', '--yes']);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /ENOSPC|could not be written completely/);
    await eventually(() => files(sluice).length === 0, { what: 'an empty directory' });
    // A directory or two may have come.
    assert.ok(free() > before - 10, `${free()} of ${before} blocks are free`);
    assert.equal((await ask(sluice, '/spin?ms=1')).status, 200);
  },
);

void test('what cannot be written is said, and nothing of it is left', async (t) => {
  const sluice = await running(t, { entry: app('spin.js'), workers: 1 });
  // No file can be made there. What is no directory is said before the profile is taken.
  for (const [out, seconds, said] of [
    ['/proc/x', '0.1', '/proc/x.cpuprofile: '],
    ['/dev/full/x', '60', '/dev/full: Not a directory'],
  ] as const) {
    const { code, stderr } = await sluice.cli(['profile', '--seconds', seconds, '--out', out]);
    assert.deepEqual([code, stderr.includes(said)], [1, true], stderr);
  }
  assert.deepEqual(files(sluice), []);
  const none = await sluice.cli(['heap', '--worker', '99']);
  assert.deepEqual([none.code, none.stderr.includes('no such worker is serving')], [1, true]);
});
