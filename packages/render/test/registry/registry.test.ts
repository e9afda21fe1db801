// Components are found by name and version, and loaded when they are used first.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Settings } from '../../src/component.js';
import { LoadError } from '../../src/index.js';
import { createRegistry, type ComponentModule } from '../../src/registry/registry.js';
import { LateError } from '../../src/tasks/errors.js';
import type { Adapter } from '../../src/adapters/adapter.js';

const view = () => '<p>';

void test('a component is found by its name', async () => {
  const registry = createRegistry();
  registry.register('shop/Hero', view, { rendering: 'static' });
  const found = await registry.find('shop/Hero');
  assert.equal(found?.view, view);
  assert.equal(found.name, 'shop/Hero');
  assert.equal(found.settings.rendering, 'static');
  assert.equal(found.adapter.name, 'plain');
  assert.equal(registry.loaded('shop/Hero'), found);
});

void test('names of Object.prototype are no components', async () => {
  const registry = createRegistry();
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    assert.equal(await registry.find(name), undefined, name);
    registry.register(name, view);
    assert.equal((await registry.find(name))?.name, name);
  }
});

void test('the newest of several versions is found, or the one that is named', async () => {
  const registry = createRegistry();
  for (const version of ['2.1.0', '10.0.0-rc.1', '9.12.3', '2.10.0', '10.0.0-beta.2', '10.0.0-rc.11']) {
    registry.register('Hero', () => version, {}, { version });
  }
  assert.deepEqual(registry.versions('Hero'), [
    '10.0.0-rc.11',
    '10.0.0-rc.1',
    '10.0.0-beta.2',
    '9.12.3',
    '2.10.0',
    '2.1.0',
  ]);
  assert.equal((await registry.find('Hero'))?.version, '10.0.0-rc.11');
  registry.register('Hero', view, {}, { version: '10.0.0' });
  assert.equal((await registry.find('Hero'))?.version, '10.0.0');
  assert.equal((await registry.find('Hero', '2.1.0'))?.version, '2.1.0');
  assert.equal(await registry.find('Hero', '2.1.1'), undefined);
  assert.deepEqual(registry.names(), ['Hero']);
});

void test('a name is taken once, or once by each version', () => {
  const registry = createRegistry();
  registry.register('A', view);
  assert.throws(
    () => registry.register('A', view),
    /"A" is registered already; several of one name need versions/,
  );
  assert.throws(() => registry.register('A', view, {}, { version: '1.0.0' }), /need versions/);
  registry.register('B', view, {}, { version: '1.0.0' });
  assert.throws(() => registry.register('B', view), /need versions/);
  assert.throws(
    () => registry.lazy('B', () => ({}), {}, { version: '1.0.0' }),
    /Version 1\.0\.0 of component "B"/,
  );
  assert.throws(() => registry.register('B', view, {}, { version: 'v2' }), /"v2".*not a semantic version/);
  assert.throws(() => registry.register('', view), /needs a name/);
});

void test('a lazy component is loaded once, on first use, however many ask', async () => {
  let loads = 0;
  const registry = createRegistry();
  registry.lazy(
    'Late',
    async () => {
      loads += 1;
      await Promise.resolve();
      return { default: view, settings: { budgetMs: 7, cacheS: 1 } };
    },
    { cacheS: 2 },
  );
  assert.equal(registry.loaded('Late'), undefined);
  assert.equal(loads, 0);
  const all = await Promise.all([registry.find('Late'), registry.find('Late'), registry.find('Late')]);
  assert.equal(loads, 1);
  assert.equal(new Set(all).size, 1);
  assert.deepEqual(all[0]?.settings, { budgetMs: 7, cacheS: 2 });
  await registry.find('Late');
  assert.equal(loads, 1);
});

void test('a load that failed is tried again', async () => {
  let loads = 0;
  const registry = createRegistry();
  registry.lazy('Flaky', () => {
    loads += 1;
    if (loads === 1) throw new Error('disk');
    return { default: view };
  });
  await assert.rejects(registry.find('Flaky'), /disk/);
  assert.equal((await registry.find('Flaky'))?.view, view);
});

void test('a load that does not end is given up, and tried again', async () => {
  let loads = 0;
  const registry = createRegistry({ loadTimeoutMs: 2 });
  registry.lazy('Slow', () => {
    loads += 1;
    return loads === 1 ? new Promise<{ default: typeof view }>(() => {}) : { default: view };
  });
  await assert.rejects(registry.find('Slow'), /"Slow" was not loaded after 2 ms/);
  assert.equal((await registry.find('Slow'))?.view, view);
});

void test('a module without a component is refused with its name', async () => {
  const registry = createRegistry();
  registry.lazy('Empty', () => ({}));
  await assert.rejects(
    registry.find('Empty'),
    /"Empty" was not loaded: TypeError: The module has no default export/,
  );
});

void test('the adapter that recognises a view renders it, unless another is named', async () => {
  const mine: Adapter = { name: 'mine', recognises: (view) => typeof view === 'function', render: () => '' };
  const registry = createRegistry({ adapters: [mine] });
  registry.register('A', view);
  registry.register('B', view, { adapter: 'plain' });
  assert.equal((await registry.find('A'))?.adapter.name, 'mine');
  assert.equal((await registry.find('B'))?.adapter.name, 'plain');
  assert.throws(
    () => registry.register('C', view, { adapter: 'svelte' }),
    /asks for adapter "svelte"; the registry has mine, plain/,
  );
});

void test('a view that two adapters recognise alike is refused until one is named', () => {
  const own = (name: string, recognises: Adapter['recognises']): Adapter => ({
    name,
    recognises,
    render: () => '',
  });
  for (const says of [true, 'perhaps'] as const) {
    const registry = createRegistry({ adapters: [own('one', () => says), own('other', () => says)] });
    assert.throws(() => registry.register('A', view), /"A" may be of one, other: name one of them/);
    registry.register('A', view, { adapter: 'other' });
    assert.equal(registry.loaded('A')?.adapter.name, 'other');
  }
});

void test('of a thousand components none is loaded that is not used', async () => {
  const loaded: string[] = [];
  const registry = createRegistry();
  for (let index = 0; index < 1_000; index += 1) {
    registry.lazy(`Component${index}`, () => {
      loaded.push(`Component${index}`);
      return { default: view };
    });
  }
  await registry.find('Component7');
  await registry.find('Component7');
  assert.deepEqual(loaded, ['Component7']);
  assert.equal(registry.names().length, 1_000);
});

void test('a cacheKey that is neither a function nor a word is refused when it is registered', async () => {
  const registry = createRegistry();
  for (const [cacheKey, says] of [
    ['prop', '"prop"'],
    [true, 'of type boolean'],
    [{}, 'of type object'],
  ] as const) {
    const settings = { cacheKey } as unknown as Settings;
    const expected = {
      name: 'TypeError',
      message: `cacheKey of component "Card" is ${says}; it may be 'props' or a function`,
    };
    assert.throws(() => registry.register('Card', view, settings), expected);
    assert.throws(() => registry.lazy('Card', () => ({ default: view }), settings), expected);
  }
  registry.register('Card', view, { cacheKey: 'props' });
  registry.register('Own', view, { cacheKey: () => 'key' });
  const settings = { cacheKey: 'prop' } as unknown as Settings;
  registry.lazy('Exports', () => ({ default: view, settings }), {}, { file: 'Exports.js' });
  await assert.rejects(registry.find('Exports'), {
    name: 'LoadError',
    message:
      'Component "Exports" was not loaded from Exports.js: TypeError: ' +
      'cacheKey of component "Exports" is "prop"; it may be \'props\' or a function',
  });
});

void test('a load that is late is late, and no file that is broken', async () => {
  const registry = createRegistry();
  const late = new LateError('The store of components did not answer');
  registry.lazy('Late', () => Promise.reject(late));
  await assert.rejects(registry.find('Late'), (error) => error === late);
});

void test('a module that has no component is an error of its load', async () => {
  const registry = createRegistry();
  const modules: Readonly<Record<string, unknown>> = {
    'The module has no default export': { Card: view },
    'Component "Card1" cannot be rendered by any adapter; the registry has plain': { default: 5 },
    "Cannot read properties of undefined (reading 'settings')": undefined,
  };
  for (const [index, [message, module]] of Object.entries(modules).entries()) {
    registry.lazy(`Card${index}`, () => module as ComponentModule, {}, { file: '/app/Card.js' });
    await assert.rejects(registry.find(`Card${index}`), (error: unknown) => {
      assert.ok(error instanceof LoadError);
      assert.equal(
        error.message,
        `Component "Card${index}" was not loaded from /app/Card.js: TypeError: ${message}`,
      );
      return true;
    });
  }
});
