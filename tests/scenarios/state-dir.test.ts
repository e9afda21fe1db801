// What must outlive a restart is apart from sockets and locks: the state directory.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { app, type Sluice, startSluice } from '../support/sluice.ts';
import { quick, tempDir, upgraded } from './upgrades.ts';

void test('costs and profiles outlive a run directory that systemd deletes', async (t) => {
  const [dir, run] = [tempDir(t), tempDir(t)];
  const runDir = path.join(run, 'run');
  const env = { ...quick, STATE_DIRECTORY: dir, RUNTIME_DIRECTORY: runDir };
  const first = await startSluice({ entry: app('spin.js'), workers: 1, runDir, env });
  t.after(() => first.stop());
  const state = path.join(dir, 'sluice');
  assert.equal(fs.readlinkSync(path.join(runDir, 'state')), state);
  const { code, stderr } = await first.cli(['profile', '--seconds', '1']);
  assert.equal(code, 0, stderr);
  assert.ok(fs.readdirSync(path.join(state, 'profiles')).some((name) => name.endsWith('.cpuprofile')));
  await upgraded(first);
  assert.equal((await first.cli(['stop'])).code, 0);
  await first.finished();
  assert.ok(fs.statSync(path.join(state, 'costs.json')).size > 0);
  assert.deepEqual(
    fs.readdirSync(runDir).filter((name) => ['costs.json', 'profiles'].includes(name)),
    [],
  );

  fs.rmSync(runDir, { recursive: true });
  const second = await startSluice({ entry: app('spin.js'), workers: 1, runDir, env });
  t.after(() => second.stop());
  assert.ok(fs.existsSync(path.join(runDir, 'state', 'costs.json')));
});

void test('files of an earlier version are moved once', async (t) => {
  const [state, runDir] = [path.join(tempDir(t), 'state'), path.join(tempDir(t), 'run')];
  fs.mkdirSync(runDir, { mode: 0o700 });
  fs.mkdirSync(path.join(runDir, 'profiles'), { mode: 0o700 });
  fs.writeFileSync(path.join(runDir, 'profiles', 'profile-1.cpuprofile'), '{}');
  const sluice = await startSluice({
    entry: app('spin.js'),
    workers: 1,
    runDir,
    flags: ['--state-dir', state],
  });
  t.after(() => sluice.stop());
  assert.ok(fs.existsSync(path.join(state, 'profiles', 'profile-1.cpuprofile')));
  assert.ok(!fs.existsSync(path.join(runDir, 'profiles')));
  assert.ok(sluice.logs.some(({ text }) => text === `${runDir}/profiles is now ${state}/profiles`));
});

void test('state directory that cannot be used costs a warning, and the gateway serves', async (t) => {
  const file = path.join(tempDir(t), 'file');
  fs.writeFileSync(file, '');
  const sluice = await startSluice({
    entry: app('spin.js'),
    workers: 1,
    flags: ['--state-dir', path.join(file, 'state')],
  });
  t.after(() => sluice.stop());
  assert.equal((await fetch(`${sluice.url}/`)).status, 200);
  const told = sluice.logs.filter(({ text }) => String(text).includes('the state directory cannot be used'));
  assert.deepEqual([told.length, told[0]?.['level']], [1, 'warn']);
  assert.match(String(told[0]?.['text']), /file.*--state-dir/s);
});

void test('systemd unit without a state directory is told of what it loses', async (t) => {
  const runDir = path.join(tempDir(t), 'run');
  const sluice = await startSluice({
    entry: app('spin.js'),
    workers: 1,
    runDir,
    env: { RUNTIME_DIRECTORY: runDir },
  });
  t.after(() => sluice.stop());
  await eventually(
    () => sluice.logs.some(({ text }) => String(text).includes('Add StateDirectory= to the unit')),
    {
      what: 'the warning',
    },
  );
});

/** Lines of the log about the alarm of the state directory. */
const alarmsOf = (sluice: Sluice, event: string) =>
  sluice.logs.filter((line) => line['event'] === event && line['alarm'] === 'state_dir');

void test('state directory in which nothing can be kept any more is an alarm until it can', async (t) => {
  const state = path.join(tempDir(t), 'state');
  const sluice = await startSluice({ entry: app('spin.js'), workers: 1, flags: ['--state-dir', state] });
  t.after(() => sluice.stop());
  fs.renameSync(state, `${state}.away`);
  fs.writeFileSync(state, '');
  const what = { deadlineMs: 40_000, what: 'the alarm' };
  const [raised] = await eventually(() => {
    const raised = alarmsOf(sluice, 'alarm_raised');
    return raised.length > 0 && raised;
  }, what);
  assert.match(String(raised?.['text']), /is not a directory.* Free the disk, .*--state-dir/);
  const { stdout } = await sluice.cli(['status']);
  assert.match(
    stdout.replaceAll(/\s+/g, ' '),
    /ALARM state_dir for .*no file can be stored in the state directory/,
  );
  assert.equal((await fetch(`${sluice.url}/`)).status, 200);
  fs.rmSync(state);
  await eventually(() => alarmsOf(sluice, 'alarm_cleared').length === 1, what);
  assert.equal(alarmsOf(sluice, 'alarm_raised').length, 1);
  assert.ok(fs.statSync(state).isDirectory());
});

void test('full disk under the state directory is an alarm, and nothing else breaks', async (t) => {
  const disk = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-disk-'));
  t.after(() => {
    spawnSync('umount', ['-l', disk]);
    fs.rmSync(disk, { recursive: true });
  });
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]).status !== 0)
    return t.skip('a file system cannot be mounted here');
  const flags = ['--state-dir', path.join(disk, 'state')];
  const sluice = await startSluice({ entry: app('spin.js'), workers: 1, flags });
  t.after(() => sluice.stop());
  const filler = path.join(disk, 'filler');
  assert.throws(() => fs.writeFileSync(filler, Buffer.alloc(128 * 1024)), /ENOSPC/);
  const what = { deadlineMs: 40_000, what: 'the alarm' };
  await eventually(() => alarmsOf(sluice, 'alarm_raised').length === 1, what);
  assert.match(String(alarmsOf(sluice, 'alarm_raised')[0]?.['text']), /No space left|the disk is full/);
  assert.equal((await fetch(`${sluice.url}/`)).status, 200);
  for (const command of [['profile'], ['heap'], ['hotspots', '--live']]) {
    const { code, stdout, stderr } = await sluice.cli([...command, '--seconds', '1']);
    assert.equal(code, 0, stderr);
    // What is kept is in the run directory, and the message says so.
    if (command[0] === 'hotspots') continue;
    assert.match(stderr, /no space left.*; written to .*\/profiles\/.* instead/i);
    assert.match(stdout, /\.html/);
  }
  fs.rmSync(filler);
  await eventually(() => alarmsOf(sluice, 'alarm_cleared').length === 1, what);
  assert.equal((await sluice.cli(['stop'])).code, 0);
  assert.equal((await sluice.finished()).code, 0);
});
