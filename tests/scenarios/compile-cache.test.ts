// What Node has compiled is kept for the workers to come: used where it is whole, compiled anew where it is not, and no worker
// needs it. SLUICE_TEST_NODE names a Node of 22.10 or later where the one that runs the tests is older.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import type { Sluice } from '../support/sluice.ts';
import { ask, ownApp, running } from './scenario.ts';

const node = process.env['SLUICE_TEST_NODE'] ?? process.execPath;
const [major = 0, minor = 0] = spawnSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' })
  .stdout.split('.')
  .map(Number);
const skip = major > 22 || (major === 22 && minor >= 10) ? false : 'needs Node 22.10 in SLUICE_TEST_NODE';

function temporary(t: TestContext): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-cc-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

async function serving(t: TestContext, dir: string, env: Record<string, string> = {}): Promise<Sluice> {
  const sluice = await running(t, {
    entry: ownApp('upstream.js'),
    workers: 2,
    flags: ['--node', node],
    env: { CACHE_DIRECTORY: path.dirname(dir), ...env },
  });
  assert.equal((await ask(sluice, '/')).status, 200);
  for (const { restarts_total } of (await sluice.status()).workers) assert.equal(restarts_total, 0);
  return sluice;
}

/** Files of Node in the directory, with when each was written. */
function files(dir: string): Map<string, number> {
  const names = fs.existsSync(dir) ? fs.readdirSync(dir, { recursive: true, encoding: 'utf8' }) : [];
  const found = names.map((name) => [path.join(dir, name), fs.statSync(path.join(dir, name))] as const);
  return new Map(found.filter(([, stat]) => stat.isFile()).map(([name, stat]) => [name, stat.mtimeMs]));
}

void test(
  'a worker leaves what it compiled to those that follow, even where it is killed',
  { skip },
  async (t) => {
    const dir = path.join(temporary(t), 'compile-cache');
    const first = await serving(t, dir);
    const written = files(dir);
    assert.ok(written.size > 1, `${written.size} files`);
    assert.equal(fs.statSync(dir).mode & 0o777, 0o700);
    await first.kill9();
    await serving(t, dir);
    // What is used is not written again.
    assert.deepEqual(files(dir), written);
  },
);

void test('broken files of the cache are compiled and written anew', { skip }, async (t) => {
  const dir = path.join(temporary(t), 'compile-cache');
  await (await serving(t, dir)).stop();
  const written = [...files(dir).keys()].map((name) => [name, fs.statSync(name).size] as const);
  const breaks = [
    (name: string) => fs.writeFileSync(name, ''),
    (name: string) => fs.truncateSync(name, fs.statSync(name).size / 2),
    (name: string) => fs.writeFileSync(name, 'x'.repeat(5_000)),
    (name: string, size: number) => {
      const bytes = fs.readFileSync(name);
      fs.writeFileSync(name, bytes.fill(0xff, size / 2, size / 2 + 8));
    },
  ];
  for (const [index, [name, size]] of written.entries()) breaks[index % breaks.length]?.(name, size);
  // What a worker that was killed while it wrote has left.
  const rest = path.join(path.dirname(written[0]?.[0] ?? ''), '0a1b2c3d.Xy12ab');
  fs.writeFileSync(rest, 'half');
  await (await serving(t, dir)).stop();
  const sizes = written.map(([name]) => fs.statSync(name).size);
  for (const [index, [name, size]] of written.entries())
    assert.ok(
      Math.abs((sizes[index] ?? 0) - size) < size / 2,
      `${name}: ${size} bytes, then ${sizes[index]}`,
    );
});

for (const env of [{ NODE_DISABLE_COMPILE_CACHE: '1' }, { NODE_COMPILE_CACHE: 'own' }] as Record<
  string,
  string
>[]) {
  void test(`there is none with ${Object.keys(env).join()}`, { skip }, async (t) => {
    const dir = temporary(t);
    const own = path.join(dir, 'own');
    const at = 'NODE_COMPILE_CACHE' in env ? { NODE_COMPILE_CACHE: own } : env;
    const sluice = await serving(t, path.join(dir, 'compile-cache'), at);
    await sluice.stop();
    assert.deepEqual(files(path.join(dir, 'compile-cache')), new Map());
  });
}

void test('a cache over its bound is made smaller at the next start', { skip }, async (t) => {
  const dir = path.join(temporary(t), 'compile-cache');
  await (await serving(t, dir)).stop();
  const old = path.join(dir, 'v22.0.0-x64-0a1b2c3d-0');
  fs.mkdirSync(old);
  const names = Array.from({ length: 20 }, (_, index) => path.join(old, `0000000${index % 10}.${index}`));
  for (const name of names) {
    fs.writeFileSync(name, 'x'.repeat(100_000));
    fs.utimesSync(name, 1, 1);
  }
  const sluice = await serving(t, dir, bounds({ compile_cache_bytes_max: 1_000_000 }));
  const bytes = () => [...files(dir).keys()].reduce((sum, name) => sum + fs.statSync(name).size, 0);
  assert.ok(
    names.some((name) => !fs.existsSync(name)),
    'the oldest are gone',
  );
  assert.ok(bytes() <= 1_000_000, `${bytes()} bytes`);
  assert.equal((await ask(sluice, '/')).status, 200);
});

void test('a directory that others may enter is not used', async (t) => {
  const dir = path.join(temporary(t), 'compile-cache');
  fs.mkdirSync(dir, { mode: 0o755 });
  fs.chmodSync(dir, 0o755);
  await serving(t, dir);
  assert.equal(files(dir).size, 0);
});

void test(
  'a full disk for the cache hurts nobody',
  { skip: skip || (process.getuid?.() !== 0 && 'only root can mount a tmpfs') },
  async (t) => {
    const dir = path.join(temporary(t), 'compile-cache');
    fs.mkdirSync(dir);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k,mode=700', 'tmpfs', dir]).status !== 0)
      return t.skip('no tmpfs can be mounted here');
    t.after(() => {
      spawnSync('umount', ['-l', dir]);
    });
    await (await serving(t, dir)).stop();
    await serving(t, dir);
  },
);
