// Workers and heaps follow the memory limit of a real cgroup, where this user may make one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { MemoryCgroup } from '../../bench/lib/cgroup.ts';
import { cleanEnvironment, sluiceCommand } from '../support/sluice.ts';
import { running } from './scenario.ts';

const MIB = 2 ** 20;
const LIMIT_MIB = 600;
const cgroup =
  process.platform === 'linux' ? MemoryCgroup.make(LIMIT_MIB * MIB) : 'there are no cgroups here';
const skip = typeof cgroup === 'string' ? cgroup : false;

interface Sizing {
  workers: number;
  extra_workers: number;
  cpus: number;
  memory_bytes_max: number;
  is_cgroup: boolean;
  heap_mib: number | null;
  heap_by: string;
  warnings: string[];
}

function folder(t: TestContext): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-sizing-'));
  fs.writeFileSync(
    path.join(dir, 'server.js'),
    `const { getHeapStatistics } = require('node:v8');
     const body = JSON.stringify({ args: process.execArgv, heap: getHeapStatistics().heap_size_limit });
     require('node:http').createServer((request, response) => response.end(body)).listen(process.env.PORT);`,
  );
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

function check(dir: string, words: string[], env: Record<string, string> = {}): string {
  const through = cgroup instanceof MemoryCgroup ? cgroup.enter : [];
  const [program, args] = sluiceCommand(['check', 'server.js', ...words]);
  const [command = '', ...rest] = [...through, program, ...args];
  const { stdout, stderr, status } = spawnSync(command, rest, {
    cwd: dir,
    env: cleanEnvironment(env),
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return words.includes('--json') ? stdout : `${stderr}${stdout}`;
}

const sizing = (dir: string, env: Record<string, string> = {}): Sizing =>
  (JSON.parse(check(dir, ['--json'], env)) as { sizing: Sizing }).sizing;

void test('sluice check says what it chose by the limit and why', { skip }, (t) => {
  const dir = folder(t);
  const chosen = sizing(dir);
  // Beside the buffers there are 525 MiB: three workers, and two for long requests and a reload.
  assert.deepEqual([chosen.workers, chosen.extra_workers], [Math.min(chosen.cpus, 3), 2]);
  assert.deepEqual(
    [chosen.memory_bytes_max, chosen.is_cgroup, chosen.heap_by],
    [LIMIT_MIB * MIB, true, 'sluice'],
  );
  assert.ok((chosen.heap_mib ?? 0) * (chosen.workers + 2) < LIMIT_MIB, String(chosen.heap_mib));
  assert.deepEqual(chosen.warnings, []);
  assert.match(
    check(dir, []),
    new RegExp(
      `^# Workers: ${chosen.workers}, [^]*^# Heap of each: --max-old-space-size=${chosen.heap_mib}, because`,
      'm',
    ),
  );
});

void test('heaps of the user that exceed the limit are a warning, and stay', { skip }, (t) => {
  const dir = folder(t);
  const env = { NODE_OPTIONS: '--max-old-space-size=400', SLUICE_WORKERS_COUNT: '2' };
  const chosen = sizing(dir, env);
  assert.deepEqual([chosen.heap_by, chosen.heap_mib], ['app', 400]);
  assert.match(
    check(dir, [], env),
    /^sluice: 4 workers .* heaps of 400 MiB may use 1\.6 GiB, more than the memory limit of the cgroup, 600 MiB\. Lower /m,
  );
});

void test('workers get the heap that was chosen, and the log has the warning', { skip }, async (t) => {
  const dir = folder(t);
  assert.ok(cgroup instanceof MemoryCgroup);
  const options = { entry: path.join(dir, 'server.js'), through: cgroup.enter };
  const sluice = await running(t, { ...options, workers: 1 });
  const seen = (await (await fetch(sluice.url)).json()) as { args: string[]; heap: number };
  const [mib] = seen.args.flatMap((arg) => /^--max-old-space-size=(\d+)$/.exec(arg)?.[1] ?? []).map(Number);
  assert.ok(mib !== undefined && mib > 72 && mib < 200, seen.args.join(' '));
  // Young objects are beside it.
  assert.ok(seen.heap < (mib + 100) * MIB, String(seen.heap));
  const many = await running(t, { ...options, workers: 6 });
  const text = many.logs
    .map((line) => String(line['text']))
    .find((line) => line.includes('too little for Node.js'));
  assert.match(text ?? '', /^8 workers \(6 wanted, /);
});

void test("without a cgroup's limit Node.js decides, and nothing is warned of", (t) => {
  if (fs.existsSync('/sys/fs/cgroup/memory.max')) t.diagnostic('this runner may itself be limited');
  const dir = folder(t);
  const [program, args] = sluiceCommand(['check', 'server.js', '--json']);
  const { stdout } = spawnSync(program, args, { cwd: dir, env: cleanEnvironment(), encoding: 'utf8' });
  const { sizing: chosen } = JSON.parse(stdout) as { sizing: Sizing };
  if (!chosen.is_cgroup) assert.deepEqual([chosen.heap_by, chosen.heap_mib], ['node', null]);
  assert.deepEqual(chosen.warnings, []);
});
