import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { claimRole } from '../dist/listen/claim.js';

const claimModule = new URL('../dist/listen/claim.js', import.meta.url).href;

function socketIn(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'claim-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return join(dir, '1.sock');
}

void test('the first caller gets the role, and no other', (t) => {
  const socketPath = socketIn(t);
  assert.equal(claimRole(socketPath), true);
  assert.equal(claimRole(socketPath), false);
});

void test('a run directory that is gone gives nobody the role', (t) => {
  assert.equal(claimRole(join(socketIn(t), '..', 'gone', '1.sock')), false);
});

void test('a role that cannot be claimed is an error, not somebody else’s', (t) => {
  const file = socketIn(t);
  writeFileSync(file, '');
  assert.throws(() => claimRole(join(file, '1.sock')), { code: 'ENOTDIR' });
});

void test(
  'the role takes no byte on a disk',
  { skip: process.platform !== 'linux' && 'the limit is set with prlimit' },
  (t) => {
    // A limit on the size of files stands for a disk that is full: names can be made, bytes cannot be written.
    const script = `import { claimRole } from ${JSON.stringify(claimModule)}; process.exit(claimRole(process.argv[1]) ? 0 : 9);`;
    const claimed = spawnSync('prlimit', [
      '--fsize=0',
      process.execPath,
      '--input-type=module',
      '-e',
      script,
      socketIn(t),
    ]);
    assert.equal(claimed.status, 0, String(claimed.stderr));
  },
);
