// The lines of React are in one list; what else names them all is compared with it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LINES } from '../../packages/react/src/facts/lines.ts';
import { files, read } from './repository.ts';

/** The first cells of a table's rows, where they are lines. */
function listed(page: string): string[] {
  return [...read(page).matchAll(/^\| (\d+\.\d+) +\|/gm)].map(([, line]) => line ?? '');
}

for (const page of ['docs/react.md', 'docs/decisions/0055-lines-of-react.md']) {
  void test(`${page} has a row for each line of React`, () => {
    assert.deepEqual(listed(page), LINES);
  });
}

void test('each line of React has a profile, and a React to be compared with', () => {
  const named = (pattern: RegExp): string[] =>
    files()
      .flatMap((file) => pattern.exec(file)?.[1] ?? [])
      .toSorted();
  assert.deepEqual(named(/^packages\/react\/src\/facts\/profiles\/([\d.]+)\.ts$/), LINES);
  assert.deepEqual(named(/^packages\/react\/test\/versions\/([\d.]+)\/package-lock\.json$/), LINES);
});
