// docs/support.md promises no version that is not tested, and names each that is.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { PLATFORMS } from '../../packaging/platforms.ts';
import { publishedPackages } from '../../packaging/workspace.ts';
import { LINES } from '../../packages/react/src/facts/lines.ts';
import { read, root } from './repository.ts';

const page = read('docs/support.md');

/** First cells of the table below this heading. */
function rowsBelow(heading: string): readonly string[] {
  const section = page.split('\n## ').find((text) => text.startsWith(heading)) ?? '';
  const rows = [...section.matchAll(/^\| ([^|]+?) \|/gm)].map(([, cell = '']) => cell);
  return rows.filter((cell) => !/^-+$/.test(cell)).slice(1);
}

void test('the versions of Node.js are those of the workflow that tests each change', () => {
  const matrix = /^ +node: \[([\d, ]+)\]$/m.exec(read('.github/workflows/test.yml'))?.[1] ?? '';
  assert.deepEqual(rowsBelow('Node.js').toReversed(), matrix.split(', '));
});

void test('no package asks for more of Node.js than the page says', () => {
  const [, oldest] = /\| 20 \| yes, from (\d+\.\d+);/.exec(page) ?? [];
  const [, named = '', later] = /\d+; (.+) from (\d+\.\d+) \|/.exec(page) ?? [];
  for (const { manifest } of publishedPackages()) {
    const asked = named.includes(`\`${manifest.name}\``) ? later : oldest;
    assert.equal(manifest.engines?.['node'], `>=${asked}`, manifest.name);
  }
});

void test('the lines of React are those that have a renderer and tests of their own', () => {
  const lines = rowsBelow('React').toReversed();
  assert.deepEqual(lines, LINES);
  for (const line of lines) {
    const manifest = JSON.parse(
      fs.readFileSync(path.join(root, 'packages/react/test/versions', line, 'package.json'), 'utf8'),
    ) as { readonly dependencies: Readonly<Record<string, string>> };
    assert.match(manifest.dependencies['react-dom'] ?? '', new RegExp(`^~?${line}\\.`), line);
  }
});

void test('the platforms are those that have a package', () => {
  const [linux = '', macos = ''] = rowsBelow('Platforms');
  for (const { os, cpu } of PLATFORMS)
    assert.ok((os === 'linux' ? linux : macos).includes(cpu), `${os} on ${cpu}`);
});
