/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** The renderer on React 18.3, where it is installed: in the packages whose tests install it, or in the folder of SLUICE_REACT18. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';

const packages = join(import.meta.dirname, '../../..');
const folder = [
  process.env['SLUICE_REACT18'] ?? '',
  join(packages, 'react/test/versions/18.3/node_modules/react'),
  join(packages, 'browser/test/react18/node_modules/react'),
].find((each) => each !== '' && existsSync(join(each, 'index.js')));

void test(
  'React 18.3 renders, too',
  {
    skip:
      folder === undefined && 'no React 18.3 is installed: make test-react or make test-browser installs one',
  },
  async (t) => {
    const out = mkdtempSync(join(tmpdir(), 'sluice-screens-'));
    t.after(() => rmSync(out, { recursive: true }));
    const outfile = join(out, 'stories.cjs');
    await build({
      entryPoints: [join(import.meta.dirname, 'support/stories18.tsx')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      jsx: 'transform',
      jsxFactory: 'React.createElement',
      jsxFragment: 'React.Fragment',
      tsconfigRaw: {},
      alias: { react: folder! },
    });
    const printed = execFileSync(process.execPath, [outfile], { encoding: 'utf8', timeout: 20_000 });
    assert.deepEqual(JSON.parse(printed), {
      version: '18.3',
      first: '(0 dark(forward()))',
      refs: ['ref +', 'class +'],
      second: '(1 light(forward()))',
      waiting: '(1 light!(forward()) wait())',
      shown: '(1 light(forward()) here())',
      pending: '(1 light pending(forward()) here())',
      done: '(2 light(forward()) here())',
      caught: '(caught render)',
      end: '()',
      effects: ['mount', 'cleanup'],
    });
  },
);
