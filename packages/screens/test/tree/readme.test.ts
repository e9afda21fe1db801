/** The quick start of the README runs as it stands. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../..', import.meta.url));
const README = readFileSync(join(FOLDER, 'README.md'), 'utf8');

void test('the quick start prints what the README says', (t) => {
  // In the package, so that it finds itself.
  const folder = mkdtempSync(join(FOLDER, 'test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const code = /```js\n([\s\S]*?)```/u.exec(README)?.[1] ?? '';
  const file = join(folder, 'example.mjs');
  writeFileSync(file, code);
  const printed = execFileSync(process.execPath, [file], { encoding: 'utf8', timeout: 20_000 })
    .trim()
    .split('\n');
  const told = [...(/It prints (.*)\./u.exec(README)?.[1] ?? '').matchAll(/`([^`]+)`/gu)].map(
    ([, text]) => text,
  );
  assert.equal(told.length, 2);
  assert.deepEqual(printed, told);
});
