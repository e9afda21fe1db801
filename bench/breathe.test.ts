// The benchmark of loops runs, and finds that others get in. Its figures need a machine without other load.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { repositoryDir } from '../tests/support/sluice.ts';

void test('the benchmark of loops measures each form and prints each bar', () => {
  const args = ['--import', 'tsx', 'bench/breathe.ts', '--quick', '--runs', '1', '--ms', '60'];
  const printed = execFileSync(process.execPath, args, {
    cwd: repositoryDir,
    encoding: 'utf8',
    stdio: 'pipe',
  });
  for (const form of ['breathing', 'breather']) {
    const [, nobody = '', beside = ''] =
      new RegExp(`\\| ${form} +\\| +\\d+ \\|(?:[^|]*\\|){3} +([\\d.]+) \\|[^|]*\\| +([\\d.]+) \\|`).exec(
        printed,
      ) ?? [];
    assert.ok(Number(nobody) > 0 && Number(beside) > 0, printed);
  }
  assert.equal([...printed.matchAll(/\| (?:met|MISSED) +\|/g)].length, 6, printed);
});
