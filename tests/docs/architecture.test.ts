// What ARCHITECTURE.md and the other hand-written pages cite has to exist; what they promise to be proved has to have a test.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { citations, declares, exists, files, pages, read } from './repository.ts';
import { constants, proofs, tables } from './tables.ts';

const INVARIANTS = ['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I8', 'I9', 'I10'];

const architecture = read('ARCHITECTURE.md');

void test('every path and symbol that the hand-written pages cite exists', () => {
  const missing = pages()
    .filter((page) => !page.startsWith('docs/reference/'))
    .flatMap((page) =>
      citations(read(page)).flatMap(({ path, name }) => {
        if (!exists(path)) return [`${page}: there is no ${path}`];
        if (name !== undefined && !declares(path, name)) return [`${page}: ${path} declares no ${name}`];
        return [];
      }),
    );
  assert.deepEqual(missing, []);
});

void test('every path and symbol that the page of a package cites exists in it', () => {
  const missing = files()
    .filter((file) => /^packages\/[\w-]+\/README\.md$/.test(file))
    .flatMap((page) => {
      const folder = path.posix.dirname(page);
      const cited = citations(read(page).replaceAll(/`((?:src|test)\/[^`]*)`/g, `\`${folder}/$1\``));
      return cited
        .filter((one) => !exists(one.path) || (one.name !== undefined && !declares(one.path, one.name)))
        .map((one) => `${page}: ${one.path}::${one.name}`);
    });
  assert.deepEqual(missing, []);
});

void test('ARCHITECTURE.md cites enough for the test above to mean something', () => {
  const cited = citations(architecture);
  assert.ok(cited.filter(({ name }) => name !== undefined).length > 30, `${cited.length} citations`);
});

/** The steps of the walk, each with the files that it cites. */
function walk(): { step: string; cited: string[] }[] {
  const [, section = ''] = /## Steps of a request\n([\s\S]*?)\n### /.exec(architecture) ?? [];
  const rows = [...section.matchAll(/^\| ([a-z]+) (\| `.*)$/gm)];
  return rows.map(([, step = '', row = '']) => ({ step, cited: citations(row).map(({ path }) => path) }));
}

void test('each step of the walk is found from the tree: the file or folder of its name is its own', () => {
  const sources = files().filter((file) =>
    /^gateway\/(?:proxy|road|scheduler|wire)\/src\/.*\.rs$/.test(file),
  );
  const names = new Map(walk().map(({ step }) => [step, new RegExp(`^${step}s?$`)]));
  assert.ok(names.size >= 12, [...names.keys()].join(' '));
  const lost = walk().flatMap(({ step, cited }) => {
    const named = sources.filter((file) => names.get(step)?.test(path.basename(file, '.rs')));
    // A file beside a folder of the same name is the head of that folder.
    const isOf = (file: string): boolean =>
      cited.some((one) => one === file || one.startsWith(`${file.slice(0, -'.rs'.length)}/`));
    if (named.length === 0) return [`${step}: no file has the name`];
    return named.filter((file) => !isOf(file)).map((file) => `${step}: not in ${file}`);
  });
  assert.deepEqual(lost, []);
});

/** Roads through the code, with the most stops and files that each may have. */
const ROADS = [
  { road: 'an ordinary GET', stops: 41, files: 30 },
  { road: 'a cached hit', stops: 30, files: 23 },
  { road: "a worker's crash", stops: 11, files: 9 },
];

for (const { road, stops: stopsMax, files: filesMax } of ROADS) {
  void test(`${road} has at most ${stopsMax} stops in ${filesMax} files, as many as ARCHITECTURE.md says`, () => {
    const start = architecture.indexOf(`### Stops of ${road}\n`);
    assert.ok(start > 0, road);
    const section = architecture.slice(start).split(/\n(?=### |## |The observer )/)[0] ?? '';
    const rows = section.split('\n').filter((line) => line.startsWith('| '));
    const stops = citations(rows.join('\n')).map(({ path, name }) => `${path}::${String(name)}`);
    const files = new Set(stops.map((stop) => stop.split('::')[0]));
    assert.match(section, new RegExp(`\\b${stops.length} in ${files.size} files`));
    assert.equal(new Set(stops).size, stops.length, 'none twice');
    const counted = `${stops.length} in ${files.size}`;
    assert.ok(stops.length > 6 && stops.length <= stopsMax && files.size <= filesMax, counted);
  });
}

for (const invariant of INVARIANTS) {
  void test(`${invariant} is in ARCHITECTURE.md, and tests prove it`, () => {
    const lines = architecture.split('\n').filter((line) => line.startsWith(`- **${invariant} `));
    assert.equal(lines.length, 1, 'one line');
    assert.ok(proofs().some(({ invariants }) => invariants.includes(invariant)));
  });
}

void test('tests name no other invariant', () => {
  const unknown = proofs().filter(({ invariants }) =>
    invariants.some((number) => !INVARIANTS.includes(number)),
  );
  assert.deepEqual(unknown, []);
});

void test('every bound says what it bounds', () => {
  const bare = constants().filter(({ text }) => text === '');
  assert.deepEqual(bare, []);
});

for (const [page, text] of tables) {
  void test(`${page} is what the sources say; \`make generate\` writes it`, () => {
    assert.equal(exists(page) ? read(page) : '', text());
  });
}
