// Committed lock files have one package a line, and pin what npm has written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compact } from './locks.ts';

const lock = {
  name: 'app',
  lockfileVersion: 3,
  requires: true,
  packages: {
    '': { name: 'app', license: 'MIT', dependencies: { one: '^1.0.0' } },
    'node_modules/one': {
      version: '1.2.3',
      resolved: 'https://example.com/one-1.2.3.tgz',
      integrity: 'sha512-x',
      license: 'MIT',
      engines: { node: '>=20' },
      funding: { url: 'https://example.com' },
    },
    'node_modules/two': { version: '2.0.0', resolved: 'git+ssh://git@example.com/two.git#abc' },
  },
};

void test('a lock file keeps versions, digests, engines and addresses of git, one package a line', () => {
  const text = compact(JSON.stringify(lock, null, 2));
  assert.deepEqual(JSON.parse(text), {
    ...lock,
    packages: {
      '': lock.packages[''],
      'node_modules/one': { version: '1.2.3', integrity: 'sha512-x', engines: { node: '>=20' } },
      'node_modules/two': lock.packages['node_modules/two'],
    },
  });
  assert.equal(text.split('\n').filter((line) => line.startsWith('"node_modules/')).length, 2);
  assert.equal(compact(text), text, 'a second time it changes nothing');
});
