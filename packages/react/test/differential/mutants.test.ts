// The fuzzer can fail: it catches react-dom with any one thing altered, and finds nothing in react-dom unaltered.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz } from './fuzz.ts';
import { cacheMutants, faithful, mutants, templateMutants } from './mutants.ts';

process.env['NODE_ENV'] = 'production';

/** Fixed: the question is whether the generators reach the place, and a seed that fails should fail for everyone. */
const seed = 20_250_101;
const trees_max = 8_000;

for (const mutant of Object.keys(mutants).filter((name) => !faithful.includes(name))) {
  void test(`a renderer with a fault is caught: ${mutant}`, async () => {
    const { failure, trees } = await fuzz({ trees: trees_max, seed, mutant, shrinks: false });
    assert.notEqual(failure, null, `not caught in ${trees} trees`);
  });
}

for (const mutant of Object.keys(templateMutants)) {
  void test(`a compiler with a fault is caught: ${mutant}`, async () => {
    const { failure, trees } = await fuzz({ trees: trees_max, seed, mutant, shrinks: false });
    assert.notEqual(failure, null, `not caught in ${trees} trees`);
  });
}

for (const mutant of Object.keys(cacheMutants)) {
  void test(`a component cache with a fault is caught: ${mutant}`, async () => {
    const { failure, trees } = await fuzz({ trees: trees_max, seed, mutant, shrinks: false });
    assert.notEqual(failure, null, `not caught in ${trees} trees`);
  });
}

for (const mutant of faithful) {
  void test(`no difference is found where there is none: ${mutant}`, async () => {
    const { failure } = await fuzz({ trees: 1_000, seed, mutant });
    assert.equal(failure, null, failure ?? '');
  });
}
