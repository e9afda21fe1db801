// The files of docs/moving/ work: what users have before is accepted by the tool that it is for, and what they have
// afterwards serves the same app with the numbers that they had.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { runSluice, startSluice } from '../support/sluice.ts';
import { exists, fenced, files, read, root } from './repository.ts';

const FILES = 'docs/moving/files';
const TOOLS = ['pm2', 'node-cluster', 'nginx-haproxy', 'passenger', 'watt'];

/** A directory as a user has it: the app, one of the two sides, and what the app has built. */
function userDir(t: TestContext, tool: string, side: 'before' | 'after'): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-moving-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  fs.cpSync(path.join(root, FILES, tool, side), dir, { recursive: true });
  fs.copyFileSync(path.join(root, FILES, 'server.js'), path.join(dir, 'server.js'));
  fs.mkdirSync(path.join(dir, 'public/assets'), { recursive: true });
  fs.writeFileSync(path.join(dir, 'public/assets/app.css'), 'body {}');
  return dir;
}

for (const tool of TOOLS) {
  void test(`after a move from ${tool}, two workers serve the app as it was`, async (t) => {
    const cwd = userDir(t, tool, 'after');
    const checked = await runSluice(['check'], { cwd });
    assert.equal(checked.code, 0, checked.stderr + checked.stdout);
    const sluice = await startSluice({ cwd, workers: null });
    t.after(() => sluice.stop());
    const answer = await fetch(sluice.url);
    assert.equal(answer.status, 200);
    assert.match(await answer.text(), /^hello from \d+$/m);
    assert.equal((await sluice.status()).workers.length, 2);
    if (tool !== 'nginx-haproxy') return;
    const asset = await fetch(`${sluice.url}/assets/app.css`);
    assert.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  });

  void test(`the page about ${tool} shows the files as they are`, () => {
    const page = read(`docs/moving/${tool}.md`);
    const blocks = fenced(page, 'toml', 'js', 'json', 'nginx', 'text').map((block) => block.trim());
    const shown = files().filter((file) => file.startsWith(`${FILES}/${tool}/`));
    assert.ok(shown.length >= 2, shown.join(' '));
    for (const file of shown) assert.ok(blocks.includes(read(file).trim()), `${file} is not in the page`);
  });
}

void test('PM2 reads the file of before, and its numbers are those of after', () => {
  const require = createRequire(import.meta.url);
  const { apps } = require(path.join(root, FILES, 'pm2/before/ecosystem.config.cjs')) as {
    apps: { script: string; instances: number; kill_timeout: number; max_memory_restart: string }[];
  };
  const [app] = apps;
  assert.ok(app !== undefined);
  const after = read(`${FILES}/pm2/after/sluice.toml`);
  assert.match(after, new RegExp(`^entry = "${app.script}"$`, 'm'));
  assert.match(after, new RegExp(`^count = ${String(app.instances)}$`, 'm'));
  assert.match(after, new RegExp(`^stop_timeout_ms = ${String(app.kill_timeout)}$`, 'm'));
  const bytes = Number.parseInt(app.max_memory_restart, 10) * 1024 * 1024;
  assert.match(after, new RegExp(`^memory_bytes_max = ${String(bytes)}$`, 'm'));
});

void test('node:cluster serves the app before the move', async (t) => {
  const cwd = userDir(t, 'node-cluster', 'before');
  const port = await freePort();
  const child = spawn(process.execPath, ['cluster.js'], {
    cwd,
    env: { ...process.env, PORT: String(port), NODE_OPTIONS: '' },
    stdio: 'ignore',
  });
  t.after(() => child.kill('SIGKILL'));
  const text = await eventually(
    async () => {
      const answer = await fetch(`http://127.0.0.1:${String(port)}/`).catch(() => undefined);
      return answer?.text();
    },
    { deadlineMs: 60_000, what: 'an answer of node:cluster' },
  );
  assert.match(text, /^hello from \d+$/m);
});

/** The verdict of a program on its own configuration. */
function accepts(t: TestContext, program: string, args: string[], cwd: string): void {
  const { error, status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (error !== undefined) t.skip(`${program} is not installed`);
  else assert.equal(status, 0, stdout + stderr);
}

void test('nginx accepts the file of before', (t) => {
  const cwd = userDir(t, 'nginx-haproxy', 'before');
  fs.mkdirSync(path.join(cwd, 'logs'));
  const own = 'pid nginx.pid; error_log stderr;';
  accepts(t, 'nginx', ['-t', '-p', cwd, '-c', 'nginx.conf', '-g', own], cwd);
});

void test('HAProxy accepts the file of before', (t) => {
  const cwd = userDir(t, 'nginx-haproxy', 'before');
  accepts(t, 'haproxy', ['-c', '-q', '-f', 'haproxy.cfg'], cwd);
});

void test('the numbers of Passenger and Watt are those of after', () => {
  const passenger = JSON.parse(read(`${FILES}/passenger/before/Passengerfile.json`)) as Record<
    string,
    number
  >;
  const afterPassenger = read(`${FILES}/passenger/after/sluice.toml`);
  assert.match(afterPassenger, new RegExp(`^count = ${String(passenger['max_pool_size'])}$`, 'm'));
  assert.match(
    afterPassenger,
    new RegExp(`^length_max = ${String(passenger['max_request_queue_size'])}$`, 'm'),
  );
  assert.match(afterPassenger, new RegExp(`^requests_max = ${String(passenger['max_requests'])}$`, 'm'));
  const watt = JSON.parse(read(`${FILES}/watt/before/watt.json`)) as {
    server: { hostname: string; port: number };
    gracefulShutdown: { runtime: number };
    applications: { workers: number }[];
  };
  const afterWatt = read(`${FILES}/watt/after/sluice.toml`);
  assert.match(
    afterWatt,
    new RegExp(`^host = "${watt.server.hostname}"\nport = ${String(watt.server.port)}$`, 'm'),
  );
  assert.match(afterWatt, new RegExp(`^count = ${String(watt.applications[0]?.workers)}$`, 'm'));
  assert.match(afterWatt, new RegExp(`^timeout_ms = ${String(watt.gracefulShutdown.runtime)}$`, 'm'));
});

void test('every page about a move has its files', () => {
  const pages = files().filter((file) => /^docs\/moving\/[^/]+\.md$/.test(file));
  assert.deepEqual(new Set(pages), new Set(TOOLS.map((tool) => `docs/moving/${tool}.md`)));
  for (const tool of TOOLS)
    assert.ok(exists(`${FILES}/${tool}/before`) && exists(`${FILES}/${tool}/after`), tool);
});
