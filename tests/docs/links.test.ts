// Links lead somewhere, commands exist, and every page can be found.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { anchors, exists, fenced, files, links, makeTargets, pages, read } from './repository.ts';

void test('every link in README and docs resolves, with its anchor', () => {
  const broken = pages().flatMap((page) =>
    links(read(page)).flatMap(({ path: target, anchor }) => {
      const file = target === '' ? page : path.posix.join(path.posix.dirname(page), target);
      if (!exists(file)) return [`${page}: ${target}`];
      const lacksAnchor = anchor !== '' && file.endsWith('.md') && !anchors(read(file)).has(anchor);
      return lacksAnchor ? [`${page}: ${target}#${anchor}`] : [];
    }),
  );
  assert.deepEqual(broken, []);
});

void test('README links every page of the guide and of the reference', () => {
  const linked = new Set(links(read('README.md')).map((link) => link.path));
  const wanted = files().filter((file) => /^docs\/(?:guide|reference)\/.*\.md$/.test(file));
  assert.ok(wanted.length >= 10, wanted.join(' '));
  assert.deepEqual(
    wanted.filter((file) => !linked.has(file)),
    [],
  );
});

void test('make targets that README and CONTRIBUTING name exist', () => {
  const targets = makeTargets();
  for (const page of ['README.md', 'CONTRIBUTING.md']) {
    const named = fenced(read(page), 'sh').flatMap((block) =>
      [...block.matchAll(/^(?:\w+=\S+ )*make ([a-z][\w-]*)/gm)].map(([, name]) => name),
    );
    assert.ok(named.length >= 2, page);
    for (const name of named)
      assert.ok(name !== undefined && targets.has(name), `${page}: make ${String(name)}`);
  }
});

void test('commands in the guide are those of the command line reference', () => {
  const known = new Set(
    [...read('docs/reference/cli.md').matchAll(/^## `sluice (\w+)`/gm)].map(([, name]) => name),
  );
  const [, table = ''] = read('docs/guide/operating.md').split(/^## (?:Commands|Look at it)$/m);
  const named = [...table.matchAll(/^\| `sluice (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(new Set(named), known);
});
