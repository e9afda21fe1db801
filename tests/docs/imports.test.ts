// Which modules of the packages import one another, types included.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { files, read } from './repository.ts';

type Imports = ReadonlyMap<string, readonly string[]>;

/** Modules of packages by their paths, and what each imports of its own package. */
function imports(): Imports {
  const modules = files().filter((file) => /^packages\/[\w-]+\/src\/.*\.ts$/.test(file));
  return new Map(
    modules.map((file) => {
      const found = read(file).matchAll(/(?:\bfrom|\bimport\(|^import)\s*'(\.[^']*)\.[jt]s'/gm);
      const named = [...found].map(
        ([, name]) => `${path.posix.join(path.posix.dirname(file), name ?? '')}.ts`,
      );
      return [file, named];
    }),
  );
}

/** Those that import one another, if only by others. */
function circles(of: Imports): readonly (readonly string[])[] {
  const reached = new Map([...of.keys()].map((file) => [file, reachedFrom(file, of)]));
  const around = [...of.keys()].map((file) =>
    [...(reached.get(file) ?? [])].filter((other) => reached.get(other)?.has(file)).toSorted(),
  );
  const different = new Map(around.map((circle) => [circle.join(), circle]));
  return [...different.values()].filter((circle) => circle.length > 0);
}

function reachedFrom(file: string, of: Imports): ReadonlySet<string> {
  const reached = new Set<string>();
  const next = [file];
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    for (const to of of.get(at) ?? []) {
      if (reached.has(to)) continue;
      reached.add(to);
      next.push(to);
    }
  }
  return reached;
}

/** Two or three files that know each other's types may be one idea; more are none. */
const FILES_MAX = 3;
const HAS_NONE = /^packages\/(?:react|compiler)\//;
/**
 * A render calls components, which set state, which schedules renders: the reconciler's folder is one idea, and so is that of its widgets, whose
 * commands and props name each other's types. A table of functions between its modules would cost an interpreter a call each.
 */
const ARE_ONE = ['packages/screens/src/tree/', 'packages/screens/src/widget/'];

void test('no more than three modules import one another but in the reconciler of screens, and none do in the renderer and the compiler', () => {
  const all = imports();
  assert.ok(all.size > 100, `${all.size} modules`);
  const found = circles(all).filter(
    (circle) =>
      (circle.length > FILES_MAX &&
        !ARE_ONE.some((folder) => circle.every((file) => file.startsWith(folder)))) ||
      circle.some((file) => HAS_NONE.test(file)),
  );
  assert.deepEqual(found, []);
});

void test('a circle is found where there is one', () => {
  const made = new Map([
    ['a', ['b', 'c']],
    ['b', ['c']],
    ['c', ['d']],
    ['d', ['b']],
    ['e', ['e', 'a']],
  ]);
  assert.deepEqual(circles(made), [['b', 'c', 'd'], ['e']]);
});
