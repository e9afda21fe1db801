// Components that wait for data are rendered twice, and then by the slower renderer: for as long as they wait, and no longer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as preactJs from 'preact';
import { lazy as preactLazy, Suspense as PreactSuspense } from 'preact/compat';
import * as React from 'react';
import * as reactDom from 'react-dom/server';
import type { Adapter } from '../../src/adapters/adapter.js';
import { preact } from '../../src/adapters/preact.js';
import { react } from '../../src/adapters/react.js';
import { contextOf } from '../../src/adapters/slot.js';

const context = contextOf('b1', new AbortController().signal);
const silent = { onError: () => {} };
const reacts: Readonly<Record<string, () => Adapter>> = {
  '@sluice/react': () => react(silent),
  'react-dom': () => react({ ...silent, server: reactDom }),
};

/** Whether the component was rendered by the fast renderer alone: then there is HTML at once, by one call of the component. */
function isFast(adapter: Adapter, view: unknown, calls: () => number): boolean {
  const before = calls();
  const html = adapter.render(view, {}, context);
  return typeof html === 'string' && calls() === before + 1;
}

for (const [name, create] of Object.entries(reacts)) {
  void test(`a boundary of React that failed once makes no later render slower, by ${name}`, async () => {
    const adapter = create();
    let calls = 0;
    let fails = false;
    const Child = () => {
      calls += 1;
      if (fails) throw new Error('this time');
      return React.createElement('b', null, 'there');
    };
    const View = () => React.createElement(React.Suspense, { fallback: 'later' }, React.createElement(Child));
    assert.ok(isFast(adapter, View, () => calls));
    for (let failures = 0; failures < 3; failures += 1) {
      fails = true;
      assert.match(await adapter.render(View, {}, context), /later/);
      fails = false;
      assert.ok(
        isFast(adapter, View, () => calls),
        `after failure ${failures}`,
      );
    }
  });

  void test(`a React component whose lazy part is loaded is fast again, by ${name}`, async () => {
    const adapter = create();
    let calls = 0;
    const Late = React.lazy(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return {
        default: () => {
          calls += 1;
          return React.createElement('b', null, 'there');
        },
      };
    });
    const View = () => React.createElement(React.Suspense, null, React.createElement(Late));
    for (let time = 0; time < 2; time += 1) assert.match(await adapter.render(View, {}, context), /there/);
    assert.ok(isFast(adapter, View, () => calls));
  });

  void test(`a React component that waits each time is called no more often than it waits, by ${name}`, async () => {
    const adapter = create();
    let calls = 0;
    const View = async () => {
      calls += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return React.createElement('b', null, 'there');
    };
    assert.match(await adapter.render(View, {}, context), /there/);
    for (let time = 0; time < 3; time += 1) {
      calls = 0;
      assert.match(await adapter.render(View, {}, context), /there/);
      assert.equal(calls, 1);
    }
  });
}

void test('a Preact component whose lazy part is loaded is fast again', async () => {
  const adapter = preact();
  let calls = 0;
  const Late = preactLazy(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return {
      default: () => {
        calls += 1;
        return preactJs.h('b', null, 'there');
      },
    };
  });
  const View = () => preactJs.h(PreactSuspense, { fallback: 'later' }, preactJs.h(Late, null));
  for (let time = 0; time < 2; time += 1) assert.match(await adapter.render(View, {}, context), /there/);
  assert.ok(isFast(adapter, View, () => calls));
});

void test('a Preact component that failed once while it waited is fast again', async () => {
  const adapter = preact();
  let calls = 0;
  let fails = true;
  const thrown = Promise.resolve();
  const Child = () => {
    calls += 1;
    // oxlint-disable-next-line typescript/only-throw-error -- as components of Preact wait
    if (fails && calls === 1) throw thrown;
    if (fails) throw new Error('this time');
    return preactJs.h('b', null, 'there');
  };
  const View = () => preactJs.h('p', null, preactJs.h(Child, null));
  await assert.rejects(async () => adapter.render(View, {}, context), /this time/);
  fails = false;
  await adapter.render(View, {}, context);
  assert.ok(isFast(adapter, View, () => calls));
});

void test('a promise that the outermost Preact component throws is waited for', async () => {
  let data: string | undefined;
  const View = () => {
    // oxlint-disable-next-line typescript/only-throw-error -- as components of Preact wait
    if (data === undefined) throw Promise.resolve().then(() => (data = 'there'));
    return preactJs.h('b', null, data);
  };
  assert.match(await preact().render(View, {}, context), /<b>there<\/b>/);
});
