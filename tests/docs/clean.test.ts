// Nothing in the repository tells where it was made: no paths of a machine, no hosts that packages were fetched from.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { files, read } from './repository.ts';

const BINARY = /\.(?:png|jpe?g|gif|webp|avif|ico|woff2?|ttf|gz|zip|wasm|pem|key|der)$/;
// Ada and Bob are the people of examples. Put together from parts, so that this file does not find itself.
const MACHINE_PATHS = ['work/', 'root/', 'home/(?!ada/|bob/)[a-z]', 'Users/[A-Za-z]'].map(
  (path) => `(?<![\\w./-])/${path}`,
);
const REGISTRY_HOSTS = [
  'registry\\.',
  'index\\.crates',
  'static\\.crates',
  'artifactory',
  'verdaccio',
  'nexus\\.',
].map((host) => `https?://[\\w.-]*${host}`);

const unwanted = new RegExp([...MACHINE_PATHS, ...REGISTRY_HOSTS].join('|'));

/** Cargo names its public index by this address in every lock file, on every machine. */
const CARGO_INDEX = 'registry+https://github.com/rust-lang/crates.io-index';

void test('no file mentions paths of a machine or hosts of a registry', () => {
  const found = files()
    .filter((file) => !BINARY.test(file) && file !== 'tests/docs/clean.test.ts')
    .flatMap((file) =>
      read(file)
        .replaceAll(CARGO_INDEX, '')
        .split('\n')
        .flatMap((line, index) => {
          const match = unwanted.exec(line);
          return match === null
            ? []
            : [`${file}, line ${index + 1}: ${line.slice(match.index, match.index + 80)}`];
        }),
    );
  assert.deepEqual(found, []);
});

void test('what is looked for is found where it is', () => {
  const machine = (...parts: string[]) => ['', ...parts].join('/');
  for (const text of [
    `"${machine('work', 'main', 'x')}"`,
    ` ${machine('home', 'me', 'x')}`,
    `https:/${machine('registry.example', 'x')}`,
  ]) {
    assert.match(text, unwanted);
  }
  for (const text of ['/run/shop', 'examples/home/x', 'https://example.com/registry', '/opt/sluice']) {
    assert.doesNotMatch(text, unwanted);
  }
});
