// The index of decisions has each record once, under the record's own title and with its status.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { files, read } from './repository.ts';

const FOLDER = 'docs/decisions';
const STATUS = /^(?:in force|no longer holds|(?:changed|superseded) by \d{4}(?:, \d{4})*)$/;

/** Records by number: their file, title and status. A record without a line of its own is in force. */
const records = new Map(
  files()
    .filter((file) => /^docs\/decisions\/\d{4}-[\w-]+\.md$/.test(file))
    .map((file) => {
      const text = read(file);
      const [, number = '', title = ''] = /^# (\d{4}): (.+)$/m.exec(text) ?? [];
      const line = /^Status: ([\s\S]*?)\n\n/m.exec(text)?.[1]?.replace(/\[(\d{4})\]\([^)]*\)/g, '$1');
      const status = line === undefined ? 'in force' : statusOf(line.replaceAll('\n', ' '));
      return [file.slice(FOLDER.length + 1), { number, title, status, line }];
    }),
);

/** The words of a record's status line that the index repeats: what follows them is the reason. */
function statusOf(line: string): string {
  const found = /^(?:no longer holds|(?:changed|superseded) by \d{4}(?:, \d{4})*)(?=[.,:;] | because )/.exec(
    line,
  );
  return found?.[0] ?? line;
}

interface Row {
  readonly section: string;
  readonly number: string;
  readonly file: string;
  readonly cells: readonly string[];
}

/** Rows of the tables of the index, with the headings above them. */
function rows(): Row[] {
  const sections = read(`${FOLDER}/README.md`).split(/^## /m).slice(1);
  return sections.flatMap((text) => {
    const [section = ''] = text.split('\n', 1);
    return [...text.matchAll(/^\| \[(\d{4})\]\(([^)]+)\) \| (.+) \|$/gm)].map(
      ([, number = '', file = '', rest = '']) => ({ section, number, file, cells: rest.split(' | ') }),
    );
  });
}

const index = rows();
const sorted = index.filter(({ section }) => section !== 'Newest');

void test('each record has a number of its own and is in the index exactly once', () => {
  const numbers = [...records.values()].map(({ number }) => number);
  assert.equal(new Set(numbers).size, numbers.length, numbers.join(' '));
  assert.ok(records.size > 100, String(records.size));
  assert.deepEqual(index.map(({ file }) => file).sort(), [...records.keys()].sort());
});

void test('each row has the number and the title of its record', () => {
  const wrong = index.filter(({ number, file, cells }) => {
    const record = records.get(file);
    return record?.number !== number || !file.startsWith(number) || record.title !== cells[0];
  });
  assert.deepEqual(
    wrong.filter(({ section }) => section !== 'Newest'),
    [],
  );
  assert.ok(wrong.every(({ number, file }) => file.startsWith(number)));
});

void test('each row but the newest says in one line what was decided, and the status of its record', () => {
  const wrong = sorted.flatMap(({ number, file, cells }) => {
    const [, line = '', status = ''] = cells;
    if (cells.length !== 3 || line.trim() === '') return [`${number} has ${cells.length} cells`];
    if (!STATUS.test(status)) return [`${number}: "${status}" is no status`];
    const own = records.get(file)?.status;
    return own === status ? [] : [`${number}: "${status}", and the record says "${String(own)}"`];
  });
  assert.deepEqual(wrong, []);
});

void test('records that changed or superseded others exist and are younger', () => {
  const numbers = new Set([...records.values()].map(({ number }) => number));
  const wrong = [...records.values()].flatMap(({ number, status }) => {
    const named = status.match(/\d{4}/g) ?? [];
    return named
      .filter((other) => !numbers.has(other) || other <= number)
      .map((other) => `${number}: ${status} (${other})`);
  });
  assert.deepEqual(wrong, []);
});

void test('a record that is not in force says why', () => {
  const silent = [...records.values()].filter(
    ({ line, status }) => line !== undefined && line.length < status.length + 10,
  );
  assert.deepEqual(silent, []);
});

void test('ten pages join the decisions that matter most, each of one and a half screens at most', () => {
  const [start = ''] = read(`${FOLDER}/README.md`).split(/^## /m);
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
