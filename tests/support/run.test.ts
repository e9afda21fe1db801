// The runner of `make test`: a second try hides no fault.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const runner = fileURLToPath(new URL('run.ts', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs these sources as test files; `$FOLDER` in them is their folder. */
function runAll(t: TestContext, sources: Record<string, string>): { status: number | null; out: string } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-run-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = Object.entries(sources).map(([name, source]) => {
    const file = path.join(folder, name);
    writeFileSync(file, source.replaceAll('$FOLDER', folder));
    return file;
  });
  const tests = files.filter((file) => file.endsWith('.test.mjs'));
  // A runner that was started by a test runner would report to it.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout } = spawnSync(process.execPath, ['--import', 'tsx', runner, ...tests], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  return { status, out: stdout };
}

const PASSES = `import { test } from 'node:test'; test('passes', () => {});`;
const FAILS = `import { test } from 'node:test'; test('fails', () => { throw new Error('always'); });`;
const FAILS_ONCE = `import { test } from 'node:test'; import fs from 'node:fs';
test('fails once', () => {
  if (fs.existsSync('$FOLDER/ran')) return;
  fs.writeFileSync('$FOLDER/ran', '');
  throw new Error('once');
});`;

void test('files that pass are run once', (t) => {
  const { status, out } = runAll(t, { 'a.test.mjs': PASSES });
  assert.equal(status, 0);
  assert.doesNotMatch(out, /once more/);
});

void test('a file that fails twice fails the run', (t) => {
  const { status, out } = runAll(t, { 'a.test.mjs': PASSES, 'b.test.mjs': FAILS });
  assert.equal(status, 1);
  assert.match(out, /failed twice/);
});

void test('a file that passes alone is named', (t) => {
  const { status, out } = runAll(t, { 'a.test.mjs': FAILS_ONCE, 'b.test.mjs': PASSES });
  assert.equal(status, 0);
  assert.match(out, /flaky, passed alone: .*a\.test\.mjs/);
});

void test('a failure that no given file is known for fails the run at once', (t) => {
  const helper = `import { test } from 'node:test'; export const define = () => test('fails', () => { throw new Error('always'); });`;
  const { status } = runAll(t, {
    'helper.mjs': helper,
    'a.test.mjs': `import { define } from './helper.mjs'; define();`,
  });
  assert.equal(status, 1);
});

void test('five failed files fail the run at once', (t) => {
  const sources = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [`${name}.test.mjs`, FAILS]));
  const { status, out } = runAll(t, sources);
  assert.equal(status, 1);
  assert.doesNotMatch(out, /once more/);
});
