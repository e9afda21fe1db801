// The fuzzer can fail: it catches react-dom with any one thing altered, and finds nothing in react-dom unaltered.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { long } from '../../../../tests/support/chance.ts';
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

/** Caught after thousands of pages, which takes ten seconds and more each: with SLUICE_TEST_LONG=1 alone. */
const seldomReached = [
  'a context that was read does not count',
  'the selected option does not count',
  'the namespace does not count',
  'a posted form does not count',
  'what is around it does not count',
  'static markup comes back in a string',
  'a context that was read in something kept is forgotten around it',
  'what must not be kept is kept around something',
  'ids come back with another prefix',
  'what belongs to the document is forgotten around something kept',
  'what is in a context does not count',
  'ids in something kept are forgotten around it',
];
for (const mutant of seldomReached) assert.ok(mutant in cacheMutants, mutant);

for (const mutant of Object.keys(cacheMutants).filter((name) => long || !seldomReached.includes(name))) {
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
