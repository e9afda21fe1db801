/** The types that this package is built with are those of what Node loads, for who imports it and for who requires it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');

for (const module of ['node16', 'nodenext']) {
  for (const file of ['required.cts', 'imported.mts']) {
    void test(`${file} finds its types with --module ${module}`, () => {
      const options = [
        '--noEmit',
        '--strict',
        '--target',
        'es2022',
        '--types',
        'node',
        '--skipLibCheck',
        'false',
      ];
      // Without --ignoreConfig it would take the settings of this package's own source.
      const args = [tsc, ...options, '--ignoreConfig', '--module', module, join('types', file)];
      const { status, stdout } = spawnSync(process.execPath, args, {
        cwd: import.meta.dirname,
        encoding: 'utf8',
      });
      assert.equal(stdout, '');
      assert.equal(status, 0);
    });
  }
}
