/** The examples of the README run as they stand. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parsePath } from '../src/index.js';

const FOLDER = fileURLToPath(new URL('..', import.meta.url));
const README = readFileSync(join(FOLDER, 'README.md'), 'utf8');

void test('each example prints what the README says of it', (t) => {
  // In the package, so that it finds itself.
  const folder = mkdtempSync(join(FOLDER, 'test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const node = process.env['SLUICE_TEST_NODE'] ?? process.execPath;
  const printed = [...README.matchAll(/```js\n([\s\S]*?)```/gu)].map(([, code = ''], at) => {
    const file = join(folder, `example-${at}.mjs`);
    writeFileSync(file, code);
    return execFileSync(node, [file], { encoding: 'utf8', timeout: 20_000 }).trim().split('\n');
  });
  assert.deepEqual(printed, [
    ['[["lists","mine",{"from":0,"to":1},"name"]]', 'Nine Seven', 'Nine'],
    ["{ titles: { '7': { name: 'Seven' }, '9': { name: 'Nine' } } }"],
  ]);
});

void test('each text of a path stands beside its list', () => {
  const rows = [...README.matchAll(/^\| `([^`]+)` +\| `(\[[^`]+\])`/gmu)];
  assert.equal(rows.length, 4);
  for (const [, text = '', list = ''] of rows) {
    const json = list.replaceAll("'", '"').replaceAll(/(from|to):/gu, '"$1":');
    assert.deepEqual(parsePath(text), JSON.parse(json));
  }
});
