// Each framework renders through the same interface: props, slots, ids, waiting, errors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as preactJs from 'preact';
import { lazy as preactLazy, Suspense as PreactSuspense } from 'preact/compat';
import * as React from 'react';
import * as reactDom from 'react-dom/server';
import * as Vue from 'vue';
import type { Adapter } from '../../src/adapters/adapter.js';
import { plain } from '../../src/adapters/plain.js';
import { preact } from '../../src/adapters/preact.js';
import { react } from '../../src/adapters/react.js';
import { contextOf, slotHtml, slotsOf } from '../../src/adapters/slot.js';
import { vue } from '../../src/adapters/vue.js';
import type { Props } from '../../src/component.js';

interface Framework {
  readonly adapter: Adapter;
  /** `<p class="greeting">Hello, {name}</p>` */
  readonly greeting: unknown;
  /** `<main>{default}<aside>{side}</aside></main>` */
  readonly layout: unknown;
  /** `<b>{data}</b>` after its data has come. */
  readonly waiting: unknown;
  readonly throwing: unknown;
}

const wait = async (): Promise<string> => {
  await new Promise((resolve) => setImmediate(resolve));
  return 'data';
};
const fail = (_props?: unknown): never => {
  throw new RangeError('no such product');
};

const reactParts = {
  greeting: ({ name }: { name: string }) =>
    React.createElement('p', { className: 'greeting' }, 'Hello, ', name),
  layout: ({ children, side }: { children: React.ReactNode; side: React.ReactNode }) =>
    React.createElement('main', null, children, React.createElement('aside', null, side)),
  waiting: async () => React.createElement('b', null, await wait()),
  throwing: fail,
};

const frameworks: Readonly<Record<string, Framework>> = {
  plain: {
    adapter: plain,
    greeting: ({ name }: { name: string }) => `<p class="greeting">Hello, ${name}</p>`,
    layout: (_props: Props, { slots }: { slots: { html: (name: string) => string } }) =>
      `<main>${slots.html('default')}<aside>${slots.html('side')}</aside></main>`,
    waiting: async () => `<b>${await wait()}</b>`,
    throwing: fail,
  },
  'react by @sluice/react': { adapter: react(), ...reactParts },
  'react by react-dom': { adapter: react({ server: reactDom }), ...reactParts },
  preact: {
    adapter: preact(),
    greeting: ({ name }: { name: string }) => preactJs.h('p', { class: 'greeting' }, 'Hello, ', name),
    layout: ({
      children,
      side,
    }: {
      children: preactJs.ComponentChildren;
      side: preactJs.ComponentChildren;
    }) => preactJs.h('main', null, children, preactJs.h('aside', null, side)),
    waiting: () => {
      const Late = preactLazy(async () => {
        const data = await wait();
        return { default: () => preactJs.h('b', null, data) };
      });
      return preactJs.h(PreactSuspense, { fallback: 'waits' }, preactJs.h(Late, null));
    },
    throwing: fail,
  },
  vue: {
    adapter: vue(),
    greeting: {
      props: ['name'],
      render: (self: { name: string }) => Vue.h('p', { class: 'greeting' }, `Hello, ${self.name}`),
    },
    layout: {
      setup:
        (_props: unknown, { slots }: Vue.SetupContext) =>
        () =>
          Vue.h('main', [slots['default']?.(), Vue.h('aside', slots['side']?.())]),
    },
    waiting: {
      async setup() {
        const data = await wait();
        return () => Vue.h('b', data);
      },
    },
    throwing: { setup: fail },
  },
};

/** Without the comments and marks that hydration needs. */
function bare(html: string): string {
  return html.replaceAll(/<!--.*?-->/g, '');
}

const context = contextOf('b7', new AbortController().signal);

for (const [name, { adapter, greeting, layout, waiting, throwing }] of Object.entries(frameworks)) {
  void test(`${name} renders props, and escapes them but for plain functions`, async () => {
    assert.ok(adapter.recognises(greeting));
    assert.equal(
      bare(await adapter.render(greeting, { name: 'Ada' }, context)),
      '<p class="greeting">Hello, Ada</p>',
    );
    if (adapter === plain) return;
    const html = await adapter.render(greeting, { name: '<script>' }, context);
    assert.ok(html.includes('&lt;script') && !html.includes('<script'), html);
  });

  void test(`${name} writes slots as every adapter does`, async () => {
    const names = ['default', 'side'];
    const html = await adapter.render(layout, {}, { ...context, slots: slotsOf(names) });
    assert.equal(bare(html), `<main>${slotHtml('default')}<aside>${slotHtml('side')}</aside></main>`);
  });

  void test(`${name} waits for data, the first time and later`, async () => {
    for (let time = 0; time < 3; time += 1) {
      assert.equal(bare(await adapter.render(waiting, {}, context)), '<b>data</b>');
    }
  });

  void test(`${name} throws what the component threw`, async () => {
    await assert.rejects(async () => adapter.render(throwing, {}, context), /no such product/);
  });
}

const properties = ['x', 'sideBar', 'side_bar2', 'side-bar'];

void test('names of slots are written alike by all', async () => {
  for (const name of properties) {
    const layouts: readonly (readonly [Adapter, unknown])[] = [
      [react(), (props: Record<string, React.ReactNode>) => props[name]],
      [
        preact(),
        (props: Record<string, preactJs.ComponentChildren>) =>
          preactJs.h(preactJs.Fragment, null, props[name]),
      ],
      [
        vue(),
        {
          setup:
            (_: unknown, { slots }: Vue.SetupContext) =>
            () =>
              slots[name]?.(),
        },
      ],
    ];
    for (const [adapter, view] of layouts) {
      const html = await adapter.render(view, {}, { ...context, slots: slotsOf([name]) });
      assert.equal(bare(html), slotHtml(name), adapter.name);
    }
  }
});

void test('what is not a name of a slot is refused', () => {
  for (const name of ['', '"', 'a b', '<x>', 'é', '2x'])
    assert.throws(() => slotHtml(name), /not a name of a slot/);
});

void test('synchronous React and Preact components give their HTML at once', () => {
  for (const name of ['react by @sluice/react', 'react by react-dom', 'preact']) {
    const { adapter, greeting } = frameworks[name] ?? assert.fail(name);
    assert.equal(typeof adapter.render(greeting, { name: 'Ada' }, context), 'string', name);
  }
});

void test('ids that React makes up begin with the id of the place', async () => {
  const WithId = () => React.createElement('i', { id: React.useId() });
  for (const server of [undefined, reactDom]) {
    const html = await react(server === undefined ? {} : { server }).render(WithId, {}, context);
    assert.match(html, /id="[^"]*b7/);
  }
});

void test('static React has no marks for hydration', async () => {
  const Text = ({ name }: { name: string }) => React.createElement('p', null, 'a', name);
  const html = await react().render(Text, { name: 'b' }, contextOf('b1', context.signal, true));
  assert.equal(html, '<p>ab</p>');
});

void test('static React waits for data within a boundary, as no browser brings it', async () => {
  const statically = contextOf('b1', context.signal, true);
  for (const server of [undefined, reactDom]) {
    const adapter = react(server === undefined ? {} : { server });
    const Late = async () => React.createElement('b', null, await wait());
    const Page = () => React.createElement(React.Suspense, { fallback: 'waits' }, React.createElement(Late));
    for (let time = 0; time < 2; time += 1)
      assert.match(await adapter.render(Page, {}, statically), /<b>data<\/b>/);
    const Whole = () => React.createElement(React.Suspense, { fallback: 'waits' }, 'a', 'b');
    assert.equal(await adapter.render(Whole, {}, statically), 'ab');
  }
});

void test('data within a boundary of React is waited for, however much HTML it gives', async () => {
  const Late = async () => React.createElement('b', null, `${await wait()} `.repeat(20_000));
  const Page = () => React.createElement(React.Suspense, { fallback: 'waits' }, React.createElement(Late));
  const html = await react().render(Page, {}, context);
  assert.ok(
    !html.includes('waits') && !html.includes('<script') && !html.includes('<template'),
    html.slice(0, 300),
  );
  assert.ok(html.startsWith('<!--$--><b>data data'), html.slice(0, 100));
});

void test('an error within a boundary of React is told once, and one without a boundary by the render alone', async () => {
  const Boundary = () =>
    React.createElement(React.Suspense, { fallback: 'later' }, React.createElement(fail));
  for (const server of [undefined, reactDom]) {
    const told: unknown[] = [];
    const onError = (error: unknown): void => void told.push(error);
    const adapter = react(server === undefined ? { onError } : { server, onError });
    assert.match(await adapter.render(Boundary, {}, context), /later/);
    assert.deepEqual(told.map(String), ['RangeError: no such product']);
    const FailsLate = async () => fail(await wait());
    await assert.rejects(async () => adapter.render(FailsLate, {}, context), RangeError);
    assert.equal(told.length, 1);
  }
});

void test('React that waits ends when nobody waits for it', async () => {
  const controller = new AbortController();
  const Never = () => React.use(new Promise<string>(() => {}));
  const rendering = react().render(Never, {}, contextOf('b1', controller.signal));
  controller.abort(new Error('left'));
  await assert.rejects(async () => rendering, /left/);
});

void test('plugins of Vue apps are installed', async () => {
  const adapter = vue({ setUp: (app) => app.provide('shop', 'Ada’s') });
  const view = {
    setup() {
      const shop = Vue.inject<string>('shop');
      return () => Vue.h('p', shop);
    },
  };
  assert.equal(await adapter.render(view, {}, context), '<p>Ada’s</p>');
});

void test('views of one framework are left to it', () => {
  const memoised = React.memo(reactParts.greeting);
  assert.ok(react().recognises(memoised));
  assert.ok(!vue().recognises(memoised));
  assert.ok(!plain.recognises(memoised));
  assert.ok(!react().recognises(frameworks['vue']?.greeting));
  assert.ok(!react().recognises({ default: 1 }));
  assert.ok(!vue().recognises('text'));
});
