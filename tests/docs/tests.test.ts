// Tests are found by their names and heads, so those have to be where make looks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { files, read } from './repository.ts';

const tests = files().filter((file) => file.endsWith('.test.ts'));

void test('every test lies where make looks for it', () => {
  const [, folders = ''] = /\$\(call short,([\w ]+)\)/.exec(read('Makefile')) ?? [];
  assert.ok(folders.includes('tests'), folders);
  const elsewhere = tests.filter((file) => !folders.split(' ').includes(file.split('/')[0] ?? ''));
  assert.deepEqual(elsewhere, []);
});

void test('ten scenarios are part of make quick', () => {
  const [, mark = ''] = /grep -l '\^(.+?)' tests\/scenarios/.exec(read('Makefile')) ?? [];
  assert.ok(mark !== '');
  const marked = tests.filter(
    (file) => file.startsWith('tests/scenarios/') && read(file).split('\n').includes(`${mark}.`),
  );
  assert.equal(marked.length, 10, marked.join(' '));
});

void test('no test draws its own seed', () => {
  const except = ['tests/support/chance.ts', 'tests/docs/tests.test.ts'];
  const drawing = files()
    .filter((file) => /^(?:tests|packages\/\w+\/test)\/.*\.ts$/.test(file) && !except.includes(file))
    .filter((file) => /Math\.random\(\)|process\.env\['SLUICE_\w*SEED'\]/.test(read(file)));
  assert.deepEqual(drawing, []);
});
