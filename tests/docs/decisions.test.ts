// The index of decisions has each record once, under the record's own title and with its status.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FOLDER, INDEX, recordOf, records, rowsOf, upToDate } from './decisions.ts';
import { read } from './repository.ts';

const STATUS = /^(?:in force|no longer holds|(?:changed|superseded) by \d{4}(?:, \d{4})*)$/;

const known = records();
const index = rowsOf(read(INDEX));

void test('each record has a number of its own and is in the index exactly once', () => {
  assert.ok(known.size > 100, String(known.size));
  const numbers = [...known.values()].map(({ number }) => number);
  assert.equal(new Set(numbers).size, numbers.length, numbers.join(' '));
  for (const { file, number } of known.values()) assert.ok(file.startsWith(`${number}-`), file);
  assert.deepEqual(index.map(({ file }) => file).sort(), [...known.keys()].sort());
});

void test('the index has the titles and statuses of the records; `make generate` writes them', () => {
  assert.equal(read(INDEX), upToDate(read(INDEX), known));
});

void test('each row but the newest says in one line what was decided', () => {
  const wrong = index.filter(
    ({ section, cells }) => section !== 'Newest' && (cells.length !== 3 || cells[1] === ''),
  );
  assert.deepEqual(wrong, []);
});

void test('a record in force says nothing of its status, and every other one says it in the fixed words with the reason', () => {
  const wrong = [...known.values()].flatMap(({ number, status, line }) => {
    if (!STATUS.test(status)) return [`${number}: "${status}" is no status`];
    if (line !== undefined && line.length < status.length + 10) return [`${number} does not say why`];
    return [];
  });
  const loose = [...known.keys()].filter((file) =>
    /^(?:Superseded|Changed|No longer holds|In force)\b/m.test(read(`${FOLDER}/${file}`)),
  );
  assert.deepEqual([...wrong, ...loose.map((file) => `${file} has a status without "Status:"`)], []);
});

void test('records that changed or superseded others exist and are younger', () => {
  const numbers = new Set([...known.values()].map(({ number }) => number));
  const wrong = [...known.values()].flatMap(({ number, status }) => {
    const named = status.match(/\d{4}/g) ?? [];
    return named
      .filter((other) => !numbers.has(other) || other <= number)
      .map((other) => `${number}: ${other}`);
  });
  assert.deepEqual(wrong, []);
});

void test('ten pages join the decisions that matter most, each of one and a half screens at most', () => {
  const [start = ''] = read(INDEX).split(/^## /m);
  const joined = [...start.matchAll(/^- \[[^\]]+\]\(([^)]+)\): /gm)].map(([, file = '']) => file);
  assert.equal(joined.length, 10);
  for (const file of joined) {
    const page = read(`${FOLDER}/${file}`);
    assert.ok(page.split('\n').length <= 75, `${file} is too long`);
    for (const part of [
      'Question',
      'What was weighed',
      'What was measured',
      'Decision',
      'What would change it',
    ])
      assert.ok(page.includes(`\n## ${part}\n`), `${file} lacks "${part}"`);
  }
});

void test('an update takes titles and statuses from records, and drops rows that a merge has brought back', () => {
  const old = recordOf(
    '0001-a.md',
    '# 0001: A\n\nStatus: superseded by [0002](0002-b.md), which is\nsimpler.\n\n## Context\n',
  );
  const young = recordOf('0002-b.md', '# 0002: B\n\n## Context\n');
  assert.deepEqual([old.status, young.status], ['superseded by 0002', 'in force']);
  const both = new Map([old, young].map((record) => [record.file, record]));
  const head = '# Decisions\n\n## Queue\n\n| record | decision | in one line | status |\n';
  const newest = '\n## Newest\n\n| number | decision |\n';
  const merged = `${head}| [0001](0001-a.md) | a | Does it | in force |\n${newest}| [0001](0001-a.md) | a |\n`;
  const wanted = `${head}| [0001](0001-a.md) | A | Does it | superseded by 0002 |\n${newest}| [0002](0002-b.md) | B |\n`;
  assert.equal(upToDate(merged, both), wanted);
  assert.equal(upToDate(wanted, both), wanted);
});
