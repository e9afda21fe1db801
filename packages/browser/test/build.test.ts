// What the plugin builds: chunks, the manifest, and how much of it a page needs.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import zlib from 'node:zlib';
import sluice, { findComponents } from '../src/vite/index.ts';
import { type Built, FIXTURE, build } from './support/build.ts';
import { KILOBYTE, bytesOf, gzipped, withImports } from './support/bytes.ts';

let built: Built;
before(async () => {
  // Addresses tell which component is meant.
  built = await build({ groupKb: 0 });
});
after(() => fs.rmSync(built.folder, { recursive: true }));

void test('the runtime is at most 4 KB, and the script that keeps events 1 KB', () => {
  const { runtime, early } = built.assets;
  assert.deepEqual(withImports(built, [runtime]), [runtime]);
  assert.ok(gzipped(built, runtime) <= 4 * KILOBYTE, `${gzipped(built, runtime)} bytes`);
  const early_bytes = zlib.gzipSync(early.code, { level: 9 }).length;
  assert.ok(early_bytes <= KILOBYTE, `${early_bytes} bytes`);
});

void test('a listing has its own components and 5 KB of this package beside React', (t) => {
  const { all, own } = bytesOf(built, ['Counter', 'Card']);
  t.diagnostic(`${all} bytes with React, ${own} without`);
  assert.ok(own <= 6 * KILOBYTE, `${own} bytes`);
});

void test('the manifest names all that a component imports, and its styles after those of its imports', () => {
  const { components, adapters } = built.assets;
  for (const { js } of [...Object.values(components), ...Object.values(adapters)]) {
    const [own = ''] = js;
    assert.deepEqual([...js].toSorted(), withImports(built, [own]));
  }
  for (const file of Object.values(components).flatMap(({ css }) => css))
    assert.ok(fs.existsSync(path.join(built.folder, file)), file);
  const card = components['Card']?.css
    .map((file) => fs.readFileSync(path.join(built.folder, file), 'utf8'))
    .join('');
  assert.match(card ?? '', /^:root\{--tone:[^}]+\}\s*\.card\{/);
});

void test('browser and server have the same components', async () => {
  const found = await findComponents(path.join(FIXTURE, 'components'));
  const keys = found.map(({ key }) => key).toSorted();
  assert.deepEqual(Object.keys(built.assets.components).toSorted(), keys);
  assert.deepEqual([...built.components.keys()].toSorted(), keys);
  assert.ok(keys.includes('Adder@2.0.0'), keys.join());
});

void test('the server names the files of components in errors, from the folder of the project', () => {
  const files = new Map<string, string>();
  built.register({
    lazy: (name: string, _load: unknown, _settings: undefined, { file }: { readonly file: string }) =>
      void files.set(name, file),
  });
  assert.match(files.get('Counter') ?? '', /^components\/Counter\.[jt]sx$/);
  for (const file of files.values()) assert.ok(!file.startsWith('/') && !file.startsWith('.'), file);
});

void test('classes of CSS Modules have the same names in the code of browser and server', async () => {
  const [file = ''] = built.assets.components['Counter']?.css ?? [];
  const [, name = ''] = /\.([\w-]+)/.exec(fs.readFileSync(path.join(built.folder, file), 'utf8')) ?? [];
  assert.match(name, /counter/);
  const module = await built.components.get('Counter')?.();
  assert.match(String(module?.default), /styles|className/);
  const server =
    fs.readdirSync(path.join(built.folder, 'server/assets')).find((each) => each.startsWith('Counter-')) ??
    '';
  assert.ok(fs.readFileSync(path.join(built.folder, 'server/assets', server), 'utf8').includes(name), name);
});

void test('the hash of the inline script is that of its text', () => {
  const { code, sha256 } = built.assets.early;
  assert.equal(sha256, `sha256-${createHash('sha256').update(code).digest('base64')}`);
  assert.ok(!code.includes('</'), code);
});

void test('the runtime does not name the components, so that it stays small with a thousand of them', () => {
  const code = fs.readFileSync(path.join(built.folder, 'client', built.assets.runtime), 'utf8');
  assert.ok(!code.includes('Counter'), code);
});

/** A folder of components with these files. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sluice-components-'));
  for (const [file, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    fs.writeFileSync(path.join(folder, file), text);
  }
  return folder;
}

void test('components are named by their path, by their index or by what they export', async (t) => {
  const folder = folderOf({
    'Hero.tsx': '',
    'shop/Card/index.jsx': '',
    'shop/Box@1.2.0.vue': '',
    'odd.ts': "export const name = 'Even';",
    '_helper.js': '',
    'Hero.test.tsx': '',
    'types.d.ts': '',
    'Hero.css': '',
  });
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const found = await findComponents(folder);
  assert.deepEqual(found.map(({ key }) => key).toSorted(), ['Even', 'Hero', 'shop/Box@1.2.0', 'shop/Card']);
  assert.equal(found.find(({ key }) => key === 'shop/Box@1.2.0')?.version, '1.2.0');
});

void test('two files of one name are refused, and the message names both', async (t) => {
  const folder = folderOf({ 'Hero.tsx': '', 'Hero/index.jsx': '' });
  t.after(() => fs.rmSync(folder, { recursive: true }));
  await assert.rejects(
    findComponents(folder),
    /Hero.*Hero\.tsx.*Hero\/index\.jsx|Hero.*index\.jsx.*Hero\.tsx/,
  );
});

void test('a file without a version beside one with is refused, as the server refuses it', async (t) => {
  const folder = folderOf({ 'Hero.tsx': '', 'Hero@1.0.0.tsx': '' });
  t.after(() => fs.rmSync(folder, { recursive: true }));
  await assert.rejects(findComponents(folder), /several files of Hero need versions/);
});

void test('a share of page views that is none is refused', () => {
  for (const vitals of [-0.1, 1.1, Number.NaN]) assert.throws(() => sluice({ vitals }), RangeError);
});
