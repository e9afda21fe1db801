// The search for other visitors' bytes finds none in pages of a right app, and finds each mistake that is planted.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { repositoryDir } from '../tests/support/sluice.ts';

function found(plant: string): { printed: string; pages: number } {
  const args = ['--import', 'tsx', 'bench/visitors.ts', '--quick', '--pages', '600', '--plant', plant];
  const { stdout } = spawnSync(process.execPath, args, { cwd: repositoryDir, encoding: 'utf8' });
  const [, pages = ''] = /\| pages with other visitors' bytes +\| 0 +\| +(\d+) +\|/.exec(stdout) ?? [];
  assert.match(stdout, /\| kinds that did not happen +\| none +\| +none +\| +met +\|/, stdout);
  return { printed: stdout, pages: Number(pages === '' ? Number.NaN : pages) };
}

void test("pages of a right app have no other visitor's bytes", () => {
  const { printed, pages } = found('none');
  assert.equal(pages, 0, printed);
});

for (const plant of ['cache-key', 'variable', 'headers'])
  void test(`a planted mistake is found: ${plant}`, () => {
    const { printed, pages } = found(plant);
    assert.ok(pages > 0, printed);
  });
