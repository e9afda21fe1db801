// How an operator finds gateways from another directory, and what the command line says when something is missing.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { app, runSluice, sluiceCommand } from '../support/sluice.ts';
import { allReady, ask, ownApp, running } from './scenario.ts';

/** A home for a registry of its own: other gateways of this machine are in none of its lists. */
function home(t: TestContext): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-home-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

interface Listed {
  name: string;
  run_dir: string;
  pid?: number;
  port?: number;
  workers_ready?: number;
  workers_wanted?: number;
  version?: string;
  uptime_s?: number;
}

async function list(env: Record<string, string>): Promise<Listed[]> {
  const { code, stdout, stderr } = await runSluice(['list', '--json'], { env });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Listed[];
}

void test('list shows gateways wherever they run, and no more once they have gone, in whatever way', async (t) => {
  const env = { XDG_RUNTIME_DIR: home(t) };
  const first = await running(t, { entry: app('spin.js'), workers: 2, env });
  const second = await running(t, { entry: app('spin.js'), workers: 1, env });
  const own = (all: Listed[]) => all.filter(({ run_dir }) => [first.runDir, second.runDir].includes(run_dir));
  await allReady(first, 2);
  const all = await eventually(
    async () => {
      const found = own(await list(env));
      return found.length === 2 && found;
    },
    { what: 'both gateways' },
  );
  const told = all.find(({ run_dir }) => run_dir === first.runDir);
  const { pid, version } = await first.status();
  assert.deepEqual(
    [told?.pid, told?.port, told?.workers_ready, told?.workers_wanted, told?.version],
    [pid, first.port, 2, 2, version],
  );
  const lines = (await runSluice(['list'], { env })).stdout;
  assert.match(lines, /^NAME +PID +PORT +WORKERS +STATE +UP +VERSION +USER +RUN DIR\n/);
  assert.match(lines, new RegExp(`^\\S+ +${pid} +${first.port} +2/2 +serving .* ${first.runDir}$`, 'm'));

  const elsewhere = await runSluice(['status'], { env, cwd: env.XDG_RUNTIME_DIR });
  assert.equal(elsewhere.code, 3);
  assert.match(elsewhere.stderr, /no gateway runs in .*\nGateways that run:\n/);
  assert.match(
    elsewhere.stderr,
    new RegExp(`--run-dir ${first.runDir} +\\S+, pid ${pid}, http://localhost:${first.port}`),
  );

  await second.kill9();
  first.signal('SIGTERM');
  await first.finished();
  assert.deepEqual(own(await list(env)), []);
  assert.deepEqual(fs.readdirSync(path.join(env.XDG_RUNTIME_DIR, 'sluice/registry')), []);
});

void test('the registry is private, and one that others can enter is not read', async (t) => {
  const env = { XDG_RUNTIME_DIR: home(t) };
  const sluice = await running(t, { entry: app('spin.js'), env });
  const registry = path.join(env.XDG_RUNTIME_DIR, 'sluice/registry');
  const isListed = async () => (await list(env)).some(({ run_dir }) => run_dir === sluice.runDir);
  await eventually(isListed, { what: 'the gateway' });
  assert.equal(fs.statSync(registry).mode & 0o777, 0o700);
  fs.chmodSync(registry, 0o777);
  assert.equal(await isListed(), false);
});

void test('lines of a worker that never was are an error that names those that are', async (t) => {
  const sluice = await running(t, { entry: app('spin.js'), workers: 2 });
  await allReady(sluice, 2);
  const { code, stdout, stderr } = await sluice.cli(['logs', '--worker', '99']);
  assert.deepEqual(
    [code, stdout, stderr],
    [1, '', 'sluice: worker 99 never existed; current workers: 1, 2\n'],
  );
  assert.equal((await sluice.cli(['logs', '--worker', '2'])).code, 0);
});

void test('a start that fails ends with its own code where nobody reads what it says', async (t) => {
  const runDir = path.join(home(t), 'run');
  const bad = path.join(path.dirname(runDir), 'bad.js');
  fs.writeFileSync(bad, 'throw new Error("bad")');
  const args = ['start', bad, '--port', '0', '--admin', 'off', '--run-dir', runDir];
  const [program, words] = sluiceCommand(args);
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  child.stderr.destroy();
  const [code] = (await once(child, 'exit')) as [number | null];
  assert.equal(code, 4);
});

void test('help of a command is had in both ways, and hidden commands are suggested to nobody', async () => {
  const both = [await runSluice(['help', 'start']), await runSluice(['start', '--help'])];
  assert.deepEqual([both[0]?.code, both[0]?.stdout], [0, both[1]?.stdout]);
  const { code, stderr } = await runSluice(['guardia']);
  assert.equal(code, 2);
  assert.doesNotMatch(stderr, /guardian/);
});

void test('a command is found in node_modules/.bin of the app and of folders above it', async (t) => {
  const dir = home(t);
  const bin = path.join(dir, 'node_modules/.bin');
  const cwd = path.join(dir, 'packages/web');
  fs.mkdirSync(bin, { recursive: true });
  fs.mkdirSync(cwd, { recursive: true });
  fs.writeFileSync(path.join(bin, 'framework'), `#!/bin/sh\nexec "${process.execPath}" "$2"\n`, {
    mode: 0o755,
  });
  const sluice = await running(t, { command: ['framework', 'start', app('trivial.js')], workers: 1, cwd });
  assert.equal((await ask(sluice, '/')).status, 200);
});

void test('a command that is nowhere says where it was looked for and what to do', async (t) => {
  const args = ['start', '--port', '0', '--admin', 'off', '--run-dir', path.join(home(t), 'run')];
  const { code, stderr } = await runSluice([...args, '--', 'no-such-framework', 'start']);
  assert.equal(code, 4);
  assert.match(
    stderr,
    /neither in node_modules\/\.bin .* nor in PATH.*npm install.*\.\/node_modules\/\.bin\/no-such-framework/,
  );
});

const setpriv = spawnSync('setpriv', ['--version']).status === 0 && process.getuid?.() === 0;

void test(
  'the gateway of another user is named as such',
  { skip: !setpriv && 'needs root and setpriv' },
  async (t) => {
    const sluice = await running(t, { entry: ownApp('hold.js'), env: { HOLD_DIR: home(t) } });
    const [program, words] = sluiceCommand(['status', '--run-dir', sluice.runDir]);
    const asNobody = ['--reuid', '65534', '--clear-groups', program, ...words];
    const { status, stderr } = spawnSync('setpriv', asNobody, { encoding: 'utf8' });
    if (/EACCES|Permission denied|failed to execute/.test(stderr) && !/belongs to/.test(stderr)) {
      return t.skip('the program is in a folder that other users cannot enter');
    }
    assert.equal(status, 1);
    assert.match(
      stderr,
      /belongs to user root, and only that user and root may reach it: sudo -u root sluice/,
    );
  },
);
