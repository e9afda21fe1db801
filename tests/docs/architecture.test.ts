// What ARCHITECTURE.md and the other hand-written pages cite has to exist; what they promise to be proved has to have a test.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { citations, declares, exists, hasTest, isTest, pages, read } from './repository.ts';

const INVARIANTS = ['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I8', 'I9', 'I10'];
/** Invariants of which nothing is built yet; their row has to say so. */
const NOT_BUILT = new Set(['I7']);

const architecture = read('ARCHITECTURE.md');

void test('every path and symbol that the hand-written pages cite exists', () => {
  const missing = pages()
    .filter((page) => !page.startsWith('docs/reference/'))
    .flatMap((page) =>
      citations(read(page)).flatMap(({ path, name }) => {
        if (!exists(path)) return [`${page}: there is no ${path}`];
        if (name !== undefined && !declares(path, name)) return [`${page}: ${path} declares no ${name}`];
        return [];
      }),
    );
  assert.deepEqual(missing, []);
});

void test('ARCHITECTURE.md cites enough for the test above to mean something', () => {
  const cited = citations(architecture);
  assert.ok(cited.filter(({ name }) => name !== undefined).length > 30, `${cited.length} citations`);
});

for (const invariant of INVARIANTS) {
  void test(`${invariant} is in ARCHITECTURE.md with the test that proves it`, () => {
    const rows = architecture.split('\n').filter((line) => line.startsWith(`| **${invariant} `));
    assert.equal(rows.length, 1, 'one row');
    const row = rows[0] ?? '';
    if (NOT_BUILT.has(invariant)) {
      assert.match(row, /Not built/);
      return;
    }
    const proofs = citations(row).filter(({ path, name }) => name !== undefined && isTest(path));
    assert.ok(proofs.length > 0, 'no test is cited');
    for (const { path, name } of proofs) {
      assert.ok(name !== undefined && hasTest(path, name), `${path} has no test ${String(name)}`);
    }
  });
}
