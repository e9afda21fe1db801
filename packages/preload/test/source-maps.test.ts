import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../dist/profiles/source-maps.js', import.meta.url));

type Place = readonly [line: number, column: number | null];

/** What the program answers for places in one script; null where it has no answer. */
function originals(url: string, map: string | undefined, places: readonly Place[]): unknown {
  const input = JSON.stringify({ scripts: [{ url, map }], places: places.map((place) => [0, ...place]) });
  const { stdout, status, stderr } = spawnSync(process.execPath, [PROGRAM], { input, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

const inline = (map: unknown): string => `data:application/json,${encodeURIComponent(JSON.stringify(map))}`;

void test('the last segment before a place names it', () => {
  // Line 0: columns 0 → a.ts 0:0, 10 → a.ts 4:2, 20 → nothing. Line 1 is empty. Line 2: column 4 → b.ts 7:2.
  const map = inline({
    version: 3,
    sourceRoot: '../src',
    sources: ['a.ts', './x/../b.ts'],
    mappings: 'AAAA,UAIE,U;;ICGA',
    names: [],
  });
  const places: Place[] = [
    [0, 0],
    [0, 9],
    [0, 10],
    [0, 19],
    [0, 25],
    [1, 3],
    [2, 3],
    [2, 99],
    [9, 9],
  ];
  const [start, inner] = [
    ['/app/src/a.ts', 0, 0],
    ['/app/src/a.ts', 4, 2],
  ];
  const b = ['/app/src/b.ts', 7, 2];
  assert.deepEqual(originals('file:///app/dist/a.js', map, places), [
    start,
    start,
    inner,
    inner,
    null,
    null,
    null,
    b,
    null,
  ]);
});

void test('sections are maps from their offset on', () => {
  const two = 'turbopack:///[project]/two.ts';
  const map = inline({
    version: 3,
    sections: [
      { offset: { line: 0, column: 0 }, map: { version: 3, sources: ['file:///one.ts'], mappings: 'AAAA' } },
      { offset: { line: 2, column: 5 }, map: { version: 3, sources: [two], mappings: 'AAAA,IAAI;AACA' } },
    ],
  });
  const places: Place[] = [
    [0, 3],
    [2, 4],
    [2, 5],
    [2, 9],
    [3, 0],
  ];
  const expected = [['/one.ts', 0, 0], null, [two, 0, 0], [two, 0, 4], [two, 1, 4]];
  assert.deepEqual(originals('/app/x.js', map, places), expected);
});

void test('maps are read from data URLs and from files beside the script', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-maps-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const script = pathToFileURL(join(directory, 'a b.js')).href;
  const map = { version: 3, sources: ['src/ü.ts'], mappings: 'AAEC' };
  const expected = [[join(directory, 'src/ü.ts'), 2, 1]];
  writeFileSync(join(directory, 'a b.js.map'), `)]}'\n${JSON.stringify(map)}`);
  const base64 = Buffer.from(JSON.stringify(map)).toString('base64');
  for (const url of [
    'a%20b.js.map',
    `${script}.map`,
    inline(map),
    `data:application/json;charset=utf-8;base64,${base64}`,
  ]) {
    assert.deepEqual(originals(script, url, [[0, 7]]), expected, url);
  }
});

void test('maps that cannot be read have no answer', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-maps-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const script = pathToFileURL(join(directory, 'a.js')).href;
  writeFileSync(join(directory, 'broken.map'), '{');
  for (const url of [
    'missing.map',
    'broken.map',
    '.',
    '/dev/zero',
    'https://example.org/a.map',
    'data:',
    'data:application/json;base64,%%%',
    'data:application/json,{}',
    'data:application/json,null',
    inline({ mappings: 'A\0AAA;;;AAAAAAAAAAAA' }),
    inline({ sources: [null], mappings: ';;;AAAA' }),
    inline({ sources: ['a'], mappings: ';;;ADDD' }),
    inline({ sources: 7, mappings: 7 }),
    inline({ sources: ['a'], sections: [{ offset: { line: 9, column: 0 }, map: {} }] }),
  ]) {
    assert.deepEqual(originals(script, url, [[3, 4]]), [null], url);
  }
  assert.deepEqual(originals('node:fs', inline({ sources: ['a'], mappings: 'AAAA' }), [[0, 0]]), [null]);
});

void test('without a name of the map, the last one that the file of the script gives is read', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-maps-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'a.js');
  // Line 1 has its first code at column 4, which comes from line 6 of the source; column 0 comes from line 2.
  const map = inline({ version: 3, sources: ['a.ts'], mappings: ';AAEA,IAIA' });
  const key = 'sourceMappingURL';
  const comment = (name: string): string => `//# ${key}=${name}`;
  const places: Place[] = [
    [1, null],
    [1, 0],
    [0, null],
    [9, null],
  ];
  const expected = [[join(directory, 'a.ts'), 6, 0], [join(directory, 'a.ts'), 2, 0], null, null];
  writeFileSync(file, `let a;${comment('missing.map')}\n    a = 1;\n${comment(map)}\n`);
  assert.deepEqual(originals(pathToFileURL(file).href, undefined, places), expected);
  for (const code of ['let a;\n    a = 1;', comment('')]) {
    writeFileSync(file, code);
    assert.deepEqual(originals(file, undefined, places), [null, null, null, null]);
  }
  assert.deepEqual(originals(join(directory, 'none.js'), undefined, places), [null, null, null, null]);
});
