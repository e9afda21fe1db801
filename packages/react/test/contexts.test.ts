/** Contexts while react-dom renders in the same process, whose values stay in React's objects between its renders. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context, ReactNode } from 'react';
import { piped } from './support/piped.js';
import { React, sluice, stock } from './support/renderers.js';

const { createElement: h, Suspense, createContext, useContext } = React;

function reader(context: Context<string>): ReactNode {
  const Reads = (): ReactNode => useContext(context);
  return h('p', null, h(Reads));
}

/** react-dom renders this, and the last thing that it does is within the provider. */
async function leaveBehind(context: Context<string>, value: string): Promise<void> {
  const late = new Promise<void>((resolve) => {
    setTimeout(resolve, 5);
  });
  const Late = (): ReactNode => {
    React.use(late);
    return 'late';
  };
  const within = (): ReactNode => h(context.Provider, { value }, h(Suspense, { fallback: '…' }, h(Late)));
  await piped(stock, within());
  const never = new Promise<never>(() => undefined);
  const Waits = (): ReactNode => React.use(never);
  stock.renderToString(h(context.Provider, { value }, h(Suspense, { fallback: 'wait' }, h(Waits))));
}

for (const seenBefore of [true, false]) {
  const when = seenBefore ? 'had been rendered before' : 'had never been rendered';
  void test(`a page that react-dom rendered lends its context to no other that ${when}`, async () => {
    const context = createContext('nobody');
    if (seenBefore) assert.equal(sluice.renderToString(reader(context)), '<p>nobody</p>');
    await leaveBehind(context, "somebody's");
    assert.equal(await piped(sluice, reader(context)), '<p>nobody</p>');
    assert.equal(sluice.renderToString(reader(context)), '<p>nobody</p>');
  });
}

void test('react-dom within a component, in the middle of a render, takes no context away', async () => {
  const context = createContext('nobody');
  await leaveBehind(context, "somebody's");
  const Inner = (): ReactNode => h('b', null, stock.renderToStaticMarkup(reader(context)));
  const page = h(context.Provider, { value: 'mine' }, h(Inner), reader(context));
  const expected = '<b>&lt;p&gt;nobody&lt;/p&gt;</b><p>mine</p>';
  assert.equal(sluice.renderToString(page), expected);
  assert.equal(await piped(sluice, page), expected);
});

void test('a string within a component of a stream sees nothing of its contexts, and leaves them', async () => {
  const context = createContext('nobody');
  const Inner = (): ReactNode => h('b', null, sluice.renderToStaticMarkup(reader(context)));
  const page = h(context.Provider, { value: 'mine' }, h(Inner), reader(context));
  assert.equal(await piped(sluice, page), '<b>&lt;p&gt;nobody&lt;/p&gt;</b><p>mine</p>');
});
