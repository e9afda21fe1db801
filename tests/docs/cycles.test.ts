// Modules of one crate that all lead back to each other cannot be read one by one.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { cycles } from './cycles.ts';
import { root } from './repository.ts';

/** Files that may import each other in a circle. */
const FILES_MAX = 3;

const crates = fs
  .readdirSync(path.join(root, 'gateway'))
  .filter((name) => fs.existsSync(path.join(root, 'gateway', name, 'src/lib.rs')));

void test('the crates of the gateway are found', () => {
  assert.ok(crates.includes('proxy') && crates.includes('scheduler'), crates.join(' '));
});

for (const crate of crates) {
  void test(`no circle of imports in gateway/${crate} has more than ${FILES_MAX} files`, () => {
    const large = cycles(crate).filter((group) => group.length > FILES_MAX);
    assert.deepEqual(large, []);
  });
}
