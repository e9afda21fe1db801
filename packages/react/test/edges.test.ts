/** Pages that nobody writes on purpose: names that every object has, broken iterators and text, errors in odd places. As react-dom does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReactNode } from 'react';
import type { RenderToPipeableStreamOptions } from 'react-dom/server';
import { piped } from './support/piped.js';
import { React, ReactDOM, sluice, stock } from './support/renderers.js';

const { createElement: h, Suspense } = React;

interface Seen {
  readonly html: string;
  readonly said: readonly string[];
}

/** All that comes of a page: strings, the bytes of a stream as Latin text, and what `onError` and the console are told. */
async function seen(
  server: typeof stock | typeof sluice,
  make: () => ReactNode,
  options: RenderToPipeableStreamOptions = {},
): Promise<Seen> {
  const said: string[] = [];
  const { error } = console;
  console.error = (...args: unknown[]) => said.push(`console ${args.join('|')}`);
  const onError = (thrown: unknown, info: { componentStack?: string }): void => {
    const names = [...(info.componentStack ?? '').matchAll(/at (\w+)/g)].map(([, name]) => name);
    said.push(`onError ${String(thrown)} in ${names.join(' < ')}`);
  };
  const whole = async (render: () => string | Promise<string>): Promise<string> => {
    try {
      return await render();
    } catch (thrown) {
      return `throws ${String(thrown)}`;
    }
  };
  try {
    const parts = [
      await whole(() => server.renderToString(make())),
      await whole(() => server.renderToStaticMarkup(make())),
      await whole(() => piped(server, make(), { onError, ...options })),
    ];
    return { html: parts.join('\n'), said };
  } finally {
    console.error = error;
  }
}

function same(name: string, make: () => ReactNode, options?: RenderToPipeableStreamOptions): void {
  void test(`${name}: as react-dom`, async () => {
    assert.deepEqual(await seen(sluice, make, options), await seen(stock, make, options));
    assert.deepEqual(sluice.statistics().reasons, {});
  });
}

// Names that every object has -------------------------------------------------------------------------------------

const names = ['constructor', 'toString', '__proto__'];

for (const name of names) {
  same(`preloads as ${name}`, () =>
    h(() => {
      for (const href of ['a', 'b', name]) ReactDOM.preload(href, { as: name as 'style' });
      for (const href of ['a', 'b']) ReactDOM.preloadModule(href, { as: name as 'script' });
      return 'text';
    }),
  );

  same(`properties called ${name}`, () => {
    const props = JSON.parse(`{"${name}":"x","id":"i"}`) as object;
    return [h('p', { key: 1, ...props }), { ...h('my-element', { key: 2 }), props }];
  });
}

void test('a preload leaves nothing behind in what all objects share', () => {
  const before = Reflect.ownKeys(Object.prototype).length;
  const Preloads = (): ReactNode => {
    ReactDOM.preload('left behind', { as: '__proto__' as 'style' });
    ReactDOM.preloadModule('left behind', { as: '__proto__' });
    ReactDOM.preload('left behind', { as: 'constructor' as 'style' });
    return null;
  };
  sluice.renderToString(h(Preloads));
  assert.equal(Reflect.ownKeys(Object.prototype).length, before);
  assert.equal(Object.hasOwn(Object, 'left behind'), false);
});

// react-dom fails at every resource that comes after one of this name.
void test('a stylesheet called __proto__ does not take the next with it', () => {
  const sheet = (href: string): ReactNode =>
    h('link', { key: href, rel: 'stylesheet', precedence: 'p', href });
  assert.equal(
    sluice.renderToString(['__proto__', 'next'].map(sheet)),
    '<link rel="stylesheet" href="__proto__" data-precedence="p"/><link rel="stylesheet" href="next" data-precedence="p"/>',
  );
});

// Iterators and text ----------------------------------------------------------------------------------------------

same('an iterator whose step is nothing', () =>
  h('p', null, { [Symbol.iterator]: () => ({ next: () => undefined }) } as never),
);

same('an iterator whose last step does not say so at first', () => {
  let step = 0;
  const next = (): object => (++step > 2 ? { done: 1 } : { value: step });
  return h('p', null, { [Symbol.iterator]: () => ({ next }) } as never);
});

same('halves of a character in neighbouring styles', () => [
  h('style', { key: 1, href: 'a', precedence: 'p' }, 'a{}\ud83d'),
  h('style', { key: 2, href: 'b', precedence: 'p' }, '\ude00b{}'),
]);

// Errors ----------------------------------------------------------------------------------------------------------

const overflow = 'Maximum call stack size exceeded';
for (const [kind, thrown] of Object.entries({
  'of the app': Object.assign(new Error(overflow), { digest: 'kept' }),
  'that is no error': { message: overflow },
})) {
  const page = (): ReactNode => {
    let calls = 0;
    const Throws = (): ReactNode => {
      calls += 1;
      throw thrown;
    };
    const Calls = (): ReactNode => `${calls} calls`;
    return h('main', null, h(Suspense, { fallback: h(Calls) }, 'text', h(Throws)));
  };
  same(`an overflow ${kind}`, page);
}

void test('what onError throws is reported where the error was', async () => {
  const Fails = (): ReactNode => {
    throw new Error('first');
  };
  const page = h('main', null, h(Suspense, { fallback: 'soon' }, h('p', null, h(Fails))));
  const stacksOf = async (server: typeof stock | typeof sluice): Promise<readonly string[]> => {
    const stacks: string[] = [];
    const onError = (thrown: unknown, { componentStack = '' }: { componentStack?: string }): void => {
      stacks.push(
        `${String(thrown)} ${[...componentStack.matchAll(/at (\w+)/g)].map(([, name]) => name).join()}`,
      );
      if (stacks.length === 1) throw new Error('second');
    };
    await assert.rejects(piped(server, page, { onError }), /second/);
    return stacks;
  };
  const expected = await stacksOf(stock);
  assert.match(expected.join(), /second Fails,p,Suspense/);
  assert.deepEqual(await stacksOf(sluice), expected);
});

same('a context that is not there', () => {
  const Missing = ({ context }: { context: unknown }): ReactNode =>
    String(React.useContext(context as never));
  return [null, undefined].map((context) =>
    h(Suspense, { key: String(context), fallback: 'missing' }, h(Missing, { context })),
  );
});

same('an id that is asked for outside of a component', () => {
  const Theme = React.createContext('none');
  return h(
    'main',
    null,
    h(Suspense, { fallback: 'no id' }, h(Theme.Consumer, { children: () => React.useId() })),
  );
});

void test('an error that comes from elsewhere says so in the console', async () => {
  const Fails = (): ReactNode => {
    throw Object.assign(new Error('far away'), { environmentName: 'Server' });
  };
  const page = (): ReactNode => h(Suspense, { fallback: 'soon' }, h(Fails));
  const options = { onError: undefined as never };
  const expected = await seen(stock, page, options);
  assert.match(expected.said.join(), /Server.*far away/);
  assert.deepEqual(await seen(sluice, page, options), expected);
});

same('a list of scripts that a condition has left out', () => 'text', {
  bootstrapScripts: false as never,
  bootstrapModules: 0 as never,
});

// react-dom goes on too deep in the tree after an overflow, and drops the elements between.
void test('a tree that is deeper than the stack is there as a whole', async () => {
  const depth = 20_000;
  let tree: ReactNode = h('b', null, 'text');
  for (let at = 0; at < depth; at += 1)
    tree = h('i', at % 100 === 0 ? { title: 'x'.repeat(90) } : null, tree);
  const opens = Array.from({ length: depth }, (_, at) =>
    (depth - 1 - at) % 100 === 0 ? `<i title="${'x'.repeat(90)}">` : '<i>',
  );
  const expected = `${opens.join('')}<b>text</b>${'</i>'.repeat(depth)}`;
  assert.equal(sluice.renderToString(tree), expected);
  assert.equal(await piped(sluice, tree), expected);
});

void test('what is prerendered comes with its properties in the order of react-dom', async () => {
  const { prerenderToNodeStream } = await import('react-dom/static');
  const expected = Object.keys(await prerenderToNodeStream('text'));
  assert.deepEqual(Object.keys(await sluice.prerenderToNodeStream('text')), expected);
});
