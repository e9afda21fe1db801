// What CI runs cannot be tried here. So a workflow runs nothing but make, whose targets are run here every day.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsers } from 'prettier/plugins/yaml';
import { files, makeTargets, read } from './repository.ts';

const workflows = files().filter((file) => /^\.github\/workflows\/.*\.ya?ml$/.test(file));
/** A target, and variables for it. */
const MAKE = /^make ([a-z][\w-]*)(?: [A-Z_]+=(?:\$\{\{ [\w.]+ \}\}|[\w.-]+))*$/;

void test('every command of a workflow is one of make, with a target that exists', () => {
  const targets = makeTargets();
  for (const workflow of workflows) {
    const commands = valuesOf(read(workflow), 'run');
    assert.ok(commands.length > 0, `${workflow} runs nothing`);
    for (const command of commands) {
      const target = MAKE.exec(command)?.[1];
      assert.ok(target !== undefined && targets.has(target), `${workflow}: ${command}`);
    }
  }
});

void test('every push is checked in a short time, every change on each Node.js, and every night at length', () => {
  const runs = new Map(workflows.map((workflow) => [workflow, valuesOf(read(workflow), 'run')]));
  assert.deepEqual(runs.get('.github/workflows/quick.yml'), ['make quick']);
  assert.deepEqual(runs.get('.github/workflows/test.yml'), ['make check', 'make test']);
  const nightly = runs.get('.github/workflows/long.yml') ?? [];
  for (const command of ['make test-long', 'make fuzz-react REACT=${{ matrix.react }}'])
    assert.ok(nightly.includes(command), command);
  const matrix = read('.github/workflows/test.yml');
  assert.deepEqual(valuesOf(matrix, 'node'), ['[20, 22, 24]']);
  assert.deepEqual(valuesOf(matrix, 'os'), ['[ubuntu-latest, macos-latest]']);
});

void test('a release publishes what was summed, with the binary of every platform and without a token', () => {
  const release = read('.github/workflows/release.yml');
  assert.deepEqual(valuesOf(release, 'run'), [
    'make dist-binaries',
    'make test-dist',
    'make dist-packages ARGS=--complete',
    'make publish',
  ]);
  assert.deepEqual(valuesOf(release, 'os'), ['[ubuntu-latest, macos-latest]']);
  assert.deepEqual(valuesOf(release, 'id-token'), ['write']);
  assert.deepEqual(valuesOf(release, 'subject-checksums'), ['dist/SHA256SUMS']);
  assert.doesNotMatch(release, /NPM_TOKEN|NODE_AUTH_TOKEN/);
});

void test('what CI runs here is what a workflow runs', () => {
  const commands = read('.ci/run')
    .split('\n')
    .filter((line) => line.startsWith('make '));
  assert.deepEqual(commands, valuesOf(read('.github/workflows/test.yml'), 'run'));
});

void test('a command that is not make is found', () => {
  const steps =
    'jobs:\n  a:\n    steps:\n      - { run: npm ci }\n      - run: |\n          make test\n          rm -rf x\n';
  const commands = valuesOf(steps, 'run');
  assert.equal(commands.length, 2);
  for (const command of commands) assert.doesNotMatch(command, MAKE);
  assert.throws(() => valuesOf('a: [', 'run'));
});

interface YamlNode {
  readonly type: string;
  readonly children?: readonly (YamlNode | null)[];
  readonly position: { readonly start: { offset: number }; readonly end: { offset: number } };
}

/** The source of each value under this key, wherever it stands. */
function valuesOf(yaml: string, key: string): string[] {
  const sourceOf = ({ position }: YamlNode) => yaml.slice(position.start.offset, position.end.offset);
  const found: string[] = [];
  const walk = (node: YamlNode): void => {
    const children = (node.children ?? []).filter((child) => child !== null);
    const [name, value] = children;
    if (/mappingItem/i.test(node.type) && name !== undefined && value !== undefined && sourceOf(name) === key)
      found.push(sourceOf(value).replace(/^:\s*/, '').trim());
    for (const child of children) walk(child);
  };
  walk(parsers.yaml.parse(yaml, {} as never) as YamlNode);
  return found;
}
