// Values in `AsyncLocalStorage`: code of the app finds those of the request, and none that a component has entered.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { createFragments, fragmentsOf } from '../../src/fragments/fragments.js';
import { hypernovaSource } from '../../src/fragments/hypernova-source.js';
import { createPages, createRegistry, type Pages, type Registry } from '../../src/index.js';
import { textOf } from './support.js';

const storage = new AsyncLocalStorage<string>();
const ADAPTER = { adapter: 'plain' };

/** `Enters` and `EntersLater` enter a store, `Shows` shows its own, and `Client` that of its placeholder. */
function registryOfStores(): Registry {
  const registry = createRegistry();
  const enter = (): string => {
    storage.enterWith('of Enters');
    return `<b>${storage.getStore()}</b>`;
  };
  registry.register('Enters', enter, ADAPTER);
  registry.register(
    'EntersAndThrows',
    () => {
      throw new Error(enter());
    },
    ADAPTER,
  );
  registry.register(
    'EntersLater',
    async () => {
      const early = enter();
      await turn();
      storage.enterWith('of EntersLater');
      return early;
    },
    ADAPTER,
  );
  registry.register('Shows', show, ADAPTER);
  registry.register('Client', () => '', {
    ...ADAPTER,
    rendering: 'client',
    placeholder: () => `<u>${storage.getStore()}</u>`,
  });
  return registry;
}

async function htmlOf(pages: Pages, names: readonly string[], delivery: 'whole' | 'stream'): Promise<string> {
  return storage.run('of the request', async () => {
    const boxes = names.map((component) => ({ component }));
    const page = await pages.render({ boxes }, {}, { delivery });
    const html = await textOf(page);
    await page.report;
    return html;
  });
}

function storesIn(html: string, tag: string): readonly string[] {
  return [
    ...html.matchAll(new RegExp(`<${tag}>(of the request|of Enters|of EntersLater|undefined)</${tag}>`, 'g')),
  ].map(([, store]) => store ?? '');
}

for (const name of ['Enters', 'EntersAndThrows', 'EntersLater']) {
  for (const delivery of ['whole', 'stream'] as const) {
    void test(`what ${name} enters reaches no code of later boxes, in a page sent as ${delivery}`, async () => {
      const heard: unknown[] = [];
      const pages = createPages({
        registry: registryOfStores(),
        onError: () => void heard.push(storage.getStore()),
      });
      // From the second page on, the queue knows which components are synchronous.
      for (let round = 0; round < 3; round += 1) {
        const html = await htmlOf(pages, [name, 'Client', 'Shows', name, 'Shows', 'Client'], delivery);
        assert.deepEqual(storesIn(html, 'u'), ['of the request', 'of the request'], `round ${round}`);
        assert.deepEqual(storesIn(html, 'i'), ['of the request', 'of the request'], `round ${round}`);
      }
      assert.deepEqual(new Set(heard), new Set(name === 'EntersAndThrows' ? ['of the request'] : []));
    });
  }
}

void test('what a component of a batch enters is not for the next ones', async () => {
  const fragments = createFragments({ registry: registryOfStores() });
  const jobs = { a: { name: 'Enters' }, b: { name: 'Shows' }, c: { name: 'Enters' }, d: { name: 'Shows' } };
  for (let round = 0; round < 3; round += 1) {
    const { results } = await storage.run('of the request', () => fragments.batch(jobs));
    for (const token of ['b', 'd'])
      assert.deepEqual(storesIn(String(results[token]?.html), 'i'), ['of the request'], `round ${round}`);
  }
});

const show = (): string => `<i>${storage.getStore()}</i>`;

void test('what `getComponent` enters is there for the component of its job, and for no other', async () => {
  const getComponent = (name: string): unknown => {
    storage.enterWith(name);
    return show;
  };
  for (const isConcurrent of [true, false]) {
    const fragments = fragmentsOf(hypernovaSource(getComponent), { isConcurrent }, undefined);
    for (let round = 0; round < 2; round += 1) {
      const { results } = await fragments.batch({ a: { name: 'A' }, b: { name: 'B' }, c: { name: 'C' } });
      const shown = ['a', 'b', 'c'].map((token) => results[token]?.html);
      assert.deepEqual(shown, ['<i>A</i>', '<i>B</i>', '<i>C</i>'], `round ${round}`);
    }
  }
});
