// Each framework's components are its adapter's, whatever other adapters a registry has, and in which order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as preactJs from 'preact';
import * as preactCompat from 'preact/compat';
import * as React from 'react';
import * as Vue from 'vue';
import type { Adapter } from '../../src/adapters/adapter.js';
import { plain } from '../../src/adapters/plain.js';
import { preact } from '../../src/adapters/preact.js';
import { react } from '../../src/adapters/react.js';
import { vue } from '../../src/adapters/vue.js';
import { createFragments } from '../../src/fragments/fragments.js';
import { createRegistry } from '../../src/registry/registry.js';
import { createRemote } from '../../src/remote/remote.js';
import { serve } from '../support/serve.js';

const bare = (): null => null;
const remote = createRemote({ url: 'http://127.0.0.1:9/batch' });

/** As Marko and others have them: a class of their own with a `render`. */
class Template {
  render(): string {
    return '';
  }
}
const templates: Adapter = {
  name: 'templates',
  recognises: (view) => view instanceof Template,
  render: () => '',
};
/** Objects like those of Vue, with a mark. */
const marked: Adapter = {
  name: 'marked',
  recognises: (view) => typeof view === 'object' && view !== null && '$$render' in view,
  render: () => '',
};

const views: Readonly<Record<string, readonly unknown[]>> = {
  react: [
    bare,
    async () => null,
    class extends React.Component {},
    class extends React.PureComponent {},
    React.memo(bare),
    React.forwardRef(bare),
    React.lazy(async () => ({ default: bare })),
  ],
  preact: [
    class extends preactJs.Component {
      override render() {
        return null;
      }
    },
    class extends preactCompat.PureComponent {
      override render() {
        return null;
      }
    },
    preactCompat.forwardRef(bare),
  ],
  vue: [
    { setup: bare },
    { render: bare },
    { template: '<p></p>' },
    { __name: 'Card', setup: bare },
    Vue.defineComponent({ setup: () => bare }),
    Vue.defineAsyncComponent(async () => ({ render: bare })),
    Object.assign(() => null, { __vccOpts: { render: bare } }),
  ],
  remote: [remote.component('Card')],
  templates: [new Template()],
  marked: [{ render: bare, $$render: bare }],
};

function* ordersOf<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length === 0) yield [];
  for (const item of items)
    for (const rest of ordersOf(items.filter((other) => other !== item))) yield [item, ...rest];
}

void test('the order of adapters decides nothing', () => {
  for (const adapters of ordersOf([react(), preact(), vue(), templates, marked])) {
    for (const [name, ofName] of Object.entries(views)) {
      for (const [index, view] of ofName.entries()) {
        const registry = createRegistry({ adapters });
        registry.register('View', view);
        const order = adapters.map((adapter) => adapter.name).join(', ');
        assert.equal(registry.loaded('View')?.adapter.name, name, `${name} ${index} of ${order}`);
      }
    }
  }
});

void test('a bare function is of the framework that is there, and an async one never of Preact', () => {
  const adapterOf = (adapters: readonly Adapter[], view: unknown): string | undefined => {
    const registry = createRegistry({ adapters });
    registry.register('View', view);
    return registry.loaded('View')?.adapter.name;
  };
  assert.equal(adapterOf([], bare), 'plain');
  assert.equal(adapterOf([vue(), plain], bare), 'plain');
  assert.equal(adapterOf([preact(), vue()], bare), 'preact');
  assert.equal(
    adapterOf([preact()], async () => ''),
    'plain',
  );
});

void test('what is no component is refused', () => {
  const registry = createRegistry({ adapters: [react(), preact(), vue()] });
  for (const view of [
    undefined,
    null,
    7,
    'text',
    {},
    [],
    { name: 'Card' },
    React.createElement('p'),
    preactJs.h('p', null),
    new (class {
      render(): null {
        return null;
      }
    })(),
    Object.create({ render: bare }),
  ])
    assert.throws(() => registry.register('View', view), /cannot be rendered by any adapter/);
});

void test('a batch with a remote component gives its HTML beside any framework, and rejects nothing', async (t) => {
  const there = createRegistry();
  there.register('Card', () => '<p>remote</p>', { rendering: 'static' });
  const url = await serve(t, createFragments({ registry: there }).handle);
  const rejected: unknown[] = [];
  const listen = (reason: unknown): void => void rejected.push(reason);
  process.on('unhandledRejection', listen);
  t.after(() => process.off('unhandledRejection', listen));
  const card = createRemote({ url: `${url}/batch`, timeoutMs: 30_000 }).component('Card');
  for (const adapters of ordersOf([react(), preact(), vue()])) {
    const registry = createRegistry({ adapters });
    registry.register('Card', card, { rendering: 'static' });
    const { results } = await createFragments({ registry, budgetMs: 10_000 }).batch({ a: { name: 'Card' } });
    assert.equal(results['a']?.html, '<p>remote</p>', JSON.stringify(results));
  }
  // Rejections without anybody who waits are told after the microtasks.
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(rejected, []);
});
