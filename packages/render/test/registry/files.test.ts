// A folder of files is a registry.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { createRegistry } from '../../src/registry/registry.js';
import { registryFromFiles } from '../../src/registry/files.js';

async function folder(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const made = await mkdtemp(path.join(os.tmpdir(), 'sluice-components-'));
  t.after(() => rm(made, { recursive: true }));
  await writeFile(path.join(made, 'package.json'), '{"type":"module"}');
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(made, file)), { recursive: true });
    await writeFile(path.join(made, file), text);
  }
  return made;
}

const COUNTING = 'globalThis.loadsOfTest = (globalThis.loadsOfTest ?? 0) + 1;';

void test('files are components by their paths', async (t) => {
  const components = await folder(t, {
    'Hero.js': 'export default () => "hero"; export const settings = { budgetMs: 3 };',
    'shop/Box.mjs': 'export default () => "box"',
    'shop/Cart/index.js': 'export default () => "cart"',
    'old/Menu.cjs': 'module.exports = () => "menu"',
    'old/Compiled.cjs': 'exports.__esModule = true; exports.default = () => "compiled"',
    'Hero.test.js': 'throw new Error("a test")',
    '_shared/colours.js': 'throw new Error("no component")',
    'readme.md': '',
  });
  const registry = await registryFromFiles(components, { settings: { budgetMs: 9, cacheS: 8 } });
  assert.deepEqual(registry.names(), ['Hero', 'old/Compiled', 'old/Menu', 'shop/Box', 'shop/Cart']);
  const render = async (name: string): Promise<string> => {
    const found = (await registry.find(name)) ?? assert.fail(name);
    return (found.view as () => string)();
  };
  assert.equal(await render('shop/Box'), 'box');
  assert.equal(await render('old/Menu'), 'menu');
  assert.equal(await render('old/Compiled'), 'compiled');
  const hero = await registry.find('Hero');
  assert.deepEqual(hero?.settings, { budgetMs: 3, cacheS: 8 });
});

void test('versions stand in the names of files', async (t) => {
  const components = await folder(t, {
    'shop/Hero@2.1.0.js': 'export default () => "old"',
    'shop/Hero@2.2.0/index.js': 'export default () => "new"',
    'mail@home.js': 'export default () => "no version"',
  });
  const registry = await registryFromFiles(components);
  assert.deepEqual(registry.names(), ['mail@home', 'shop/Hero']);
  assert.deepEqual(registry.versions('shop/Hero'), ['2.2.0', '2.1.0']);
});

void test('no file of a thousand is loaded before its component is used', async (t) => {
  const names = Array.from({ length: 1_000 }, (_, index) => `group${index % 10}/Component${index}.js`);
  const components = await folder(
    t,
    Object.fromEntries(names.map((name) => [name, `${COUNTING} export default () => ''`])),
  );
  const counts = globalThis as { loadsOfTest?: number };
  const registry = await registryFromFiles(components);
  assert.equal(registry.names().length, 1_000);
  assert.equal(counts.loadsOfTest, undefined);
  await registry.find('group7/Component7');
  assert.equal(counts.loadsOfTest, 1);
});

void test('a file that could not be imported is tried again by the next use', async (t) => {
  const components = await folder(t, { 'Hero.js': 'throw new Error("not yet")' });
  const registry = await registryFromFiles(components);
  await assert.rejects(registry.find('Hero'), /not yet/);
  await writeFile(path.join(components, 'Hero.js'), 'export default (');
  await assert.rejects(registry.find('Hero'), ({ cause }: Error) => cause instanceof SyntaxError);
  await writeFile(path.join(components, 'Hero.js'), 'export default () => "mended"');
  const found = (await registry.find('Hero')) ?? assert.fail();
  assert.equal((found.view as () => string)(), 'mended');
});

void test('files are added to a registry that is there', async (t) => {
  const components = await folder(t, { 'Hero.js': 'export default () => ""' });
  const registry = createRegistry();
  registry.register('Own', () => '');
  assert.equal(await registryFromFiles(components, { registry }), registry);
  assert.deepEqual(registry.names(), ['Own', 'Hero']);
});

void test('a folder that is not there is refused', async () => {
  await assert.rejects(registryFromFiles(path.join(os.tmpdir(), 'sluice-no-such-folder')), /ENOENT/);
});

void test('a file that throws when it is evaluated, or cannot be, is named with the cause and its place', async (t) => {
  const components = await folder(t, {
    'Own.js': 'const config = undefined;\nexport default () => config.key;\nexport const key = config.key;',
    'Imports.js': 'import "./_shared/key.js"; export default () => "html"',
    '_shared/key.js': '\nthrow new RangeError("no key is set")',
    'Text.js': 'throw "a text"',
    'Nothing.js': 'throw undefined',
    'Syntax.js': 'export default (',
    'Missing.js': 'import "no-such-package-of-anybody"; export default () => ""',
    'Rejects.js': 'await Promise.reject(new Error("later")); export default () => ""',
    'a (new) folder/Spaces.cjs': '\n\nthrow new Error("no luck")',
    'a (new) folder/Calls.cjs': 'function own() {\n throw new Error("no luck") }\nown();',
    'a (new) folder/Module.js': '\nthrow new Error("no luck")',
    'NoDefault.js': 'export const NoDefault = () => ""',
    'Hostile.js': 'throw new Proxy({}, { get() { throw new Error("from the proxy") } })',
  });
  const registry = await registryFromFiles(components);
  const says: Readonly<Record<string, readonly string[]>> = {
    Own: ["Own.js: TypeError: Cannot read properties of undefined (reading 'key') (at ", 'Own.js:3:'],
    Imports: ['Imports.js: RangeError: no key is set (at ', '_shared/key.js:2:7)'],
    Text: ['Text.js: Error: a text'],
    Nothing: ['Nothing.js: '],
    Syntax: ['Syntax.js: SyntaxError: '],
    Missing: ["Missing.js: Error: Cannot find package 'no-such-package-of-anybody'"],
    Rejects: ['Rejects.js: Error: later (at ', 'Rejects.js:1:'],
    'a (new) folder/Spaces': [`Error: no luck (at ${components}/a (new) folder/Spaces.cjs:3:7)`],
    'a (new) folder/Calls': [`Error: no luck (at ${components}/a (new) folder/Calls.cjs:2:8)`],
    'a (new) folder/Module': [`Error: no luck (at ${components}/a (new) folder/Module.js:2:7)`],
    NoDefault: ['NoDefault.js: TypeError: The module has no default export'],
    Hostile: ['Hostile.js: '],
  };
  assert.deepEqual(registry.names().toSorted(), Object.keys(says).toSorted());
  for (const [name, parts] of Object.entries(says)) {
    const error = await registry.find(name).then(
      () => assert.fail(name),
      (thrown: unknown) => thrown as Error,
    );
    assert.equal(error.name, 'LoadError');
    assert.ok(
      error.message.startsWith(`Component "${name}" was not loaded from ${components}`),
      error.message,
    );
    for (const part of parts) assert.ok(error.message.includes(part), error.message);
    assert.ok(error.cause instanceof Error, name);
  }
});
